import { randomId } from "../../core/index.ts";
import { crc32cText } from "../crc32c.ts";

/** An object ready to be inserted: its metadata and its bytes as one body, in parts that are not copied together. */
export interface MultipartBody {
  readonly contentType: string;
  readonly length: number;
  readonly parts: readonly Uint8Array[];
  readonly crc32c: string;
}

/**
 * The body of a multipart insert. The checksum goes into the metadata, where the server compares it with the bytes it got
 * before the object becomes visible.
 */
export function multipartBody(name: string, bytes: Uint8Array): MultipartBody {
  const boundary = `outlast-${randomId()}`;
  const crc32c = crc32cText(bytes);
  // Objects of a public bucket are served from caches for an hour unless they say otherwise.
  const metadata = { name, contentType: "application/octet-stream", cacheControl: "no-store", crc32c };
  const head = Buffer.from(
    `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n` +
      `--${boundary}\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/related; boundary=${boundary}`,
    length: head.length + bytes.length + tail.length,
    parts: [head, bytes, tail],
    crc32c,
  };
}
