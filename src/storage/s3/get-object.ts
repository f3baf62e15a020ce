import { Readable } from "node:stream";
import { GetObjectCommand, type GetObjectCommandOutput } from "@aws-sdk/client-s3";
import { OutlastError } from "../../core/index.ts";
import { crc32cText } from "../crc32c.ts";
import type { GetOptions } from "../object-store.ts";
import { readBody } from "./read-body.ts";
import type { S3Caller } from "./s3-caller.ts";
import { failureBehind } from "./s3-failure.ts";

/** Reads an object or a part of it, straight from the connection into the caller's buffer. */
export async function getObject(caller: S3Caller, key: string, options: GetOptions): Promise<Uint8Array> {
  const { bucket, prefix } = caller.place;
  const name = { operation: "get", target: key, action: "s3:GetObject" };
  const range = options.range && rangeHeader(options.range);
  const input = { Bucket: bucket, Key: prefix + key, ...(range && { Range: range }) };
  try {
    return await caller.call(name, options, async (client, http) => {
      const answer = await client.send(new GetObjectCommand(input), http);
      const body = answer.Body;
      if (!(body instanceof Readable)) throw new Error("the answer has no body");
      try {
        const target = targetOf(answer, key, options);
        if (options.range?.length === 0) return target.subarray(0, 0);
        await readBody(body, target, options.signal);
        if (!options.range) verify(answer, target, key);
        return target;
      } finally {
        // After a whole read this does nothing; after an early end it frees the connection.
        body.destroy();
      }
    });
  } catch (error) {
    const cause = failureBehind(error);
    if (options.range && cause?.status === 416) return (options.into ?? new Uint8Array()).subarray(0, 0);
    if (cause?.status === 404 && cause.name !== "NoSuchBucket") throw notFound(key, cause);
    throw error;
  }
}

/** No range says "nothing": one byte is asked for and not taken, which still shows whether the object is there. */
function rangeHeader({ offset, length }: { readonly offset: number; readonly length: number }): string {
  return `bytes=${offset}-${offset + Math.max(length, 1) - 1}`;
}

/** Where the body belongs: as long as the answer says it is, and at the offset we asked for. */
function targetOf(answer: GetObjectCommandOutput, key: string, { range, into }: GetOptions): Uint8Array {
  const length = answer.ContentLength;
  if (length === undefined) throw unsuitable(key, "does not say how long an object is");
  if (range && !startsAt(answer, range.offset, Math.max(range.length, 1))) {
    throw unsuitable(key, `answered a read of ${range.length} bytes at ${range.offset} with other bytes`);
  }
  if (!into) return Buffer.allocUnsafeSlow(length);
  if (into.length >= length || range?.length === 0) return into.subarray(0, length);
  throw new OutlastError("OUTLAST_USAGE", `${key} needs ${length} bytes but the buffer has ${into.length}`, {
    operation: "get",
    target: key,
  });
}

/** A server may answer a range that covers the object with the whole object. */
function startsAt(
  { ContentRange: text, ContentLength: got = 0 }: GetObjectCommandOutput,
  offset: number,
  most: number,
) {
  if (got > most) return false;
  return text === undefined ? offset === 0 : text.startsWith(`bytes ${offset}-`);
}

/** Compares with the checksum stored beside the object; one of parts (`…-3`) says nothing about the whole. */
function verify({ ChecksumCRC32C: stored }: GetObjectCommandOutput, bytes: Uint8Array, key: string): void {
  if (stored === undefined || stored.includes("-")) return;
  const seen = crc32cText(bytes);
  if (seen === stored) return;
  throw new OutlastError("OUTLAST_STORE_FAILED", `${key} came with the checksum ${seen} instead of ${stored}`, {
    operation: "get",
    target: key,
    hint: "if it goes on, the object is damaged: run `outlast checkpoints verify`",
    recovery: "retry",
  });
}

function unsuitable(key: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_STORE_UNSUITABLE", `the server ${what}: ${key}`, {
    operation: "get",
    target: key,
    hint: "check that nothing between this machine and the store changes requests or answers",
  });
}

function notFound(key: string, cause: unknown): OutlastError {
  return new OutlastError("OUTLAST_OBJECT_NOT_FOUND", `there is no object ${key} in the store`, {
    operation: "get",
    target: key,
    hint: "it was never stored, or it was deleted meanwhile",
    cause,
  });
}
