import { createHash } from "node:crypto";

const prefix = '{"sha256":"';
const middle = '","content":';

/** JSON that proves itself whole: `{"sha256": …, "content": …}`, the checksum being that of the exact bytes of `content`. */
export function seal(content: unknown): Uint8Array {
  return Buffer.from(envelope(JSON.stringify(content)));
}

/** Reads sealed JSON; answers with what is wrong instead of guessing when a bit differs from what was sealed. */
export function unseal(bytes: Uint8Array): { readonly content: unknown } | { readonly fault: string } {
  const text = Buffer.from(bytes).toString("utf8");
  const content = text.slice(prefix.length + 64 + middle.length, -1);
  if (!text.startsWith(prefix) || text.slice(prefix.length + 64, prefix.length + 64 + middle.length) !== middle) {
    return { fault: "is not sealed JSON" };
  }
  if (envelope(content) !== text || !Buffer.from(text).equals(bytes)) return { fault: "does not match its checksum" };
  try {
    return { content: JSON.parse(content) as unknown };
  } catch {
    return { fault: "is not JSON" };
  }
}

function envelope(content: string): string {
  return `${prefix}${createHash("sha256").update(content).digest("hex")}${middle}${content}}`;
}
