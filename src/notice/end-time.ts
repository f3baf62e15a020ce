import { OutlastError, parseDuration } from "../core/index.ts";

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Reads a known end, an RFC 3339 time or a duration from now, as milliseconds since 1970. */
export function parseEndTime(text: string, nowMs: number, what = "--ends-at"): number {
  const trimmed = text.trim();
  if (rfc3339.test(trimmed)) {
    const at = Date.parse(trimmed.replace(" ", "T"));
    if (!Number.isNaN(at)) return at;
  } else if (/^[0-9.]+([a-z]|$)/.test(trimmed)) {
    return nowMs + parseDuration(trimmed, what);
  }
  throw new OutlastError("OUTLAST_USAGE", `${what} "${text}" is neither a time nor a length of time`, {
    hint: "write a time such as 2026-11-15T18:00:00Z, or a length of time from now such as 5h30m",
  });
}

/** The value of `key` in a downward-API file: lines of `key="value"`, quoted as Go writes strings. */
export function readAnnotation(text: string, key: string): string | undefined {
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at < 0 || line.slice(0, at).trim() !== key) continue;
    const value = line.slice(at + 1).trim();
    if (!value.startsWith('"')) return value;
    try {
      return String(JSON.parse(value));
    } catch {
      // Go escapes that JSON does not know (\x41, \a) do not occur in a time; what is left is the text between the quotes.
      return value.slice(1, value.endsWith('"') ? -1 : undefined);
    }
  }
  return undefined;
}
