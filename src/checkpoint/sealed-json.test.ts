import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seal, unseal } from "./sealed-json.ts";

describe("sealed JSON", () => {
  it("comes back as it was, strays of file names included", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(unseal(seal(value))).toEqual({ content: JSON.parse(JSON.stringify(value)) });
      }),
    );
    const stray = { path: "a\udc80\udcff/ü" };
    expect(unseal(seal(stray))).toEqual({ content: stray });
  });

  it("is plain JSON for other tools", () => {
    expect(JSON.parse(Buffer.from(seal({ a: [1, "é"] })).toString())).toMatchObject({ content: { a: [1, "é"] } });
  });

  it("shows any flipped bit", () => {
    const sealed = seal({ n: 17, path: "weights/ü.bin", list: [1, 2, 3] });
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const spoilt = Uint8Array.from(sealed);
      spoilt[bit >> 3] = (spoilt[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(unseal(spoilt)).toHaveProperty("fault");
    }
  });

  it("shows any truncation and anything added", () => {
    const sealed = seal({ n: 17 });
    for (let length = 0; length < sealed.length; length += 1) {
      expect(unseal(sealed.subarray(0, length))).toHaveProperty("fault");
    }
    for (const more of ["}", " ", "\n", "\0"])
      expect(unseal(Buffer.concat([sealed, Buffer.from(more)]))).toHaveProperty("fault");
    expect(unseal(Buffer.concat([Buffer.from("\ufeff"), sealed]))).toHaveProperty("fault");
  });

  it("does not take other bytes for sealed JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(unseal(bytes)).toHaveProperty("fault");
      }),
    );
  });
});
