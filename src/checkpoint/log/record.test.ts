import { describe, expect, it } from "vitest";
import { seal } from "../sealed-json.ts";
import { decodeRecord, encodeRecord, type LogRecord, recordKey } from "./record.ts";
import { emptyState } from "./state.ts";

const record: LogRecord = {
  format: 1,
  n: 7,
  id: "0123456789abcdef0123456789abcdef",
  at: "2026-01-01T00:00:00.000Z",
  body: { kind: "epoch", shard: 0, of: 1, hash: "sha256" },
  state: emptyState("sha256"),
};

const invalid = expect.objectContaining({ code: "OUTLAST_LOG_INVALID", exitCode: 76 });

function failureOf(bytes: Uint8Array, n = 7): unknown {
  try {
    return decodeRecord(bytes, n, "r/log");
  } catch (error) {
    return error;
  }
}

describe("a log record", () => {
  it("has a key that sorts by position", () => {
    expect(recordKey(42)).toBe("log/00000000000000000042.json");
    expect(recordKey(9) < recordKey(10) && recordKey(999_999_999) < recordKey(Number.MAX_SAFE_INTEGER)).toBe(true);
  });

  it("comes back as it was", () => {
    expect(decodeRecord(encodeRecord(record), 7, "r/log")).toEqual(record);
  });

  it("is refused when any bit differs or any byte is missing", () => {
    const bytes = encodeRecord(record);
    for (let at = 0; at < bytes.length; at += 1) {
      const spoilt = Uint8Array.from(bytes);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (at % 8));
      expect(failureOf(spoilt)).toEqual(invalid);
      expect(failureOf(bytes.subarray(0, at))).toEqual(invalid);
    }
  });

  it("is refused at another position, in another format, or when it is no record", () => {
    expect(failureOf(encodeRecord(record), 8)).toEqual(invalid);
    for (const content of [{ ...record, format: 2 }, null, 5, "text", []])
      expect(failureOf(seal(content))).toEqual(invalid);
  });
});
