import { OutlastError } from "../core/index.ts";

const escapeBase = 0xdc00;

/**
 * A file name's bytes as a string. Bytes that are not valid UTF-8 become lone surrogates U+DC80…U+DCFF (Python's
 * `surrogateescape`), so that every name survives a trip through JSON.
 */
export function decodeName(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const quick = buffer.toString("utf8");
  if (!quick.includes("\uFFFD")) return quick;
  let text = "";
  for (let at = 0; at < buffer.length; ) {
    const length = validLength(buffer, at);
    if (length === 0) text += String.fromCharCode(escapeBase + (buffer[at] as number));
    else text += buffer.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** The path for file-system calls: the string itself, or its bytes where it holds stray ones. */
export function encodePath(path: string): string | Buffer {
  if (path.isWellFormed()) return path;
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(Buffer.from([code - escapeBase]));
    else if (code >= 0xd800 && code <= 0xdfff) throw notABytePath(path);
    else parts.push(Buffer.from(character));
  }
  return Buffer.concat(parts);
}

/** Whether a path is the one way {@link decodeName} writes its bytes; any other spelling could name a file twice. */
export function isCanonicalPath(path: string): boolean {
  if (path.isWellFormed()) return true;
  try {
    const bytes = encodePath(path);
    return typeof bytes === "string" || decodeName(bytes) === path;
  } catch {
    // A surrogate that stands for no byte.
    return false;
  }
}

function notABytePath(path: string): OutlastError {
  return new OutlastError(
    "OUTLAST_MANIFEST_INVALID",
    `${JSON.stringify(path)} is not a path: it holds half a character`,
    {
      target: path,
    },
  );
}

/** Length of the valid UTF-8 sequence at `at`, 0 when there is none (RFC 3629: no overlong forms, no surrogates). */
function validLength(bytes: Buffer, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) === 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] as number;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let i = 2; i < length; i += 1) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0;
  return length;
}
