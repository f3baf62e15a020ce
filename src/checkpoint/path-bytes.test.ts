import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeName, encodePath, isCanonicalPath } from "./path-bytes.ts";

const back = (text: string) => Buffer.from(encodePath(text) as string);

describe("path bytes", () => {
  it("leaves valid UTF-8 as it is", () => {
    for (const name of ["plain", "ünï", "\u{1f480}", "\uFFFD", "a\uFFFDb"]) {
      expect(decodeName(Buffer.from(name))).toBe(name);
      expect(encodePath(name)).toBe(name);
    }
  });

  it("writes stray bytes as lone surrogates", () => {
    expect(decodeName(Buffer.from([0x61, 0xff, 0x62]))).toBe("a\udcffb");
    expect(decodeName(Buffer.from([0xc3]))).toBe("\udcc3");
    expect(decodeName(Buffer.from([0xed, 0xa0, 0x80]))).toBe("\udced\udca0\udc80");
    expect(decodeName(Buffer.from([0xc0, 0xaf]))).toBe("\udcc0\udcaf");
    expect(decodeName(Buffer.from([0xf0, 0x9f, 0x92, 0x80, 0x80]))).toBe("\u{1f480}\udc80");
  });

  it("comes back byte for byte, through JSON too", () => {
    const interesting = fc.constantFrom(
      0x2e,
      0x61,
      0x80,
      0xbf,
      0xc2,
      0xc3,
      0xa4,
      0xe0,
      0xed,
      0xa0,
      0xef,
      0xbd,
      0xf0,
      0x9f,
      0xf4,
      0xff,
    );
    const bytes = fc.array(fc.oneof(interesting, fc.integer({ min: 1, max: 255 })), { maxLength: 24 });
    fc.assert(
      fc.property(bytes, (values) => {
        const name = Buffer.from(values);
        const text = decodeName(name);
        expect(back(JSON.parse(JSON.stringify(text)) as string).equals(name)).toBe(true);
        expect(isCanonicalPath(text)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it("gives different names different strings", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.uint8Array({ maxLength: 6 }), (a, b) => {
        expect(decodeName(a) === decodeName(b)).toBe(Buffer.compare(a, b) === 0);
      }),
      { numRuns: 2000 },
    );
  });

  it("knows a second spelling of the same bytes", () => {
    expect(back("\udcc3\udca4").toString()).toBe("ä");
    expect(isCanonicalPath("\udcc3\udca4")).toBe(false);
    expect(isCanonicalPath("\ud800")).toBe(false);
    expect(() => encodePath("x\ud800")).toThrow(expect.objectContaining({ code: "OUTLAST_MANIFEST_INVALID" }));
  });
});
