import { crc32cText } from "../../../src/storage/crc32c.ts";
import { type Answer, failure } from "./answer.ts";
import type { FakeBucket } from "./bucket.ts";
import { unmetCondition } from "./conditions.ts";
import { describeObject } from "./describe-object.ts";

interface Upload {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array;
}

/** How inserts are taken. */
export interface InsertOptions {
  readonly onePerSecond: boolean;
  readonly nowMs: number;
}

/** Stores an upload. There is no wait between looking at what is there and writing, so of racing inserts one wins. */
export function insertObject(
  bucket: FakeBucket,
  query: URLSearchParams,
  contentType: string,
  body: Buffer,
  options: InsertOptions,
): Answer {
  const upload = readUpload(query.get("uploadType"), contentType, body);
  if (typeof upload === "string") return failure(400, "invalid", upload);
  const { metadata, bytes } = upload;
  const name = query.get("name") ?? metadata["name"];
  if (typeof name !== "string" || name === "") return failure(400, "required", "Required object name is missing.");
  if (Buffer.byteLength(name) > 1024) return failure(400, "invalid", "The object name is too long.");
  const declared = metadata["crc32c"];
  const actual = crc32cText(bytes);
  if (declared !== undefined && declared !== actual) {
    return failure(
      400,
      "invalid",
      `Provided CRC32C ${JSON.stringify(declared)} doesn't match calculated CRC32C "${actual}".`,
    );
  }
  const unmet = unmetCondition(query, bucket.objects.get(name), { isRead: false });
  if (unmet) return unmet;
  if (options.onePerSecond && bucket.isTooSoon(name, options.nowMs)) return tooSoon(bucket.name, name);
  const { name: _name, crc32c: _crc32c, ...kept } = metadata;
  return { status: 200, body: describeObject(bucket, bucket.put(name, bytes, kept, options.nowMs)) };
}

/** The answer to a second change of one name within a second. */
export function tooSoon(bucket: string, name: string): Answer {
  return failure(
    429,
    "rateLimitExceeded",
    `The object ${bucket}/${name} exceeded the rate limit for object mutation operations (create, update, and delete). ` +
      "Please reduce your request rate.",
  );
}

function readUpload(type: string | null, contentType: string, body: Buffer): Upload | string {
  if (type === "media") return { metadata: { contentType }, bytes: body };
  if (type === "multipart") return readMultipart(contentType, body);
  return `uploadType ${type ?? "(none)"} is not supported here.`;
}

function readMultipart(contentType: string, body: Buffer): Upload | string {
  const boundary = /^multipart\/related;.*boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return "Multipart body without a boundary.";
  const end = body.lastIndexOf(`\r\n--${boundary}--`);
  const firstHead = body.indexOf("\r\n\r\n");
  const middle = body.indexOf(`\r\n--${boundary}\r\n`, firstHead);
  const secondHead = body.indexOf("\r\n\r\n", middle);
  const isWhole = body.indexOf(`--${boundary}\r\n`) === 0 && firstHead > 0 && middle > 0 && secondHead > 0;
  if (!isWhole || end < secondHead) return "Malformed multipart body.";
  try {
    const metadata = JSON.parse(body.toString("utf8", firstHead + 4, middle)) as Record<string, unknown>;
    return { metadata, bytes: body.subarray(secondHead + 4, end) };
  } catch {
    return "Metadata part is not JSON.";
  }
}
