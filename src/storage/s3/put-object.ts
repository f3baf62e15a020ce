import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { CallOptions } from "../object-store.ts";
import { crc32cText } from "../crc32c.ts";
import type { S3Caller } from "./s3-caller.ts";
import { failureBehind } from "./s3-failure.ts";

/** Writes an object; the server refuses it when its checksum is not that of our bytes. */
export function putObject(caller: S3Caller, key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
  return put(caller, "put", key, body, options);
}

/** Creates an object; the server lets one of any number of creators win. */
export async function createObject(
  caller: S3Caller,
  key: string,
  body: Uint8Array,
  options?: CallOptions,
): Promise<"created" | "exists"> {
  try {
    await put(caller, "put-if-absent", key, body, options);
    return "created";
  } catch (error) {
    if (failureBehind(error)?.status === 412) return "exists";
    throw error;
  }
}

async function put(
  caller: S3Caller,
  operation: "put" | "put-if-absent",
  key: string,
  body: Uint8Array,
  options: CallOptions | undefined,
): Promise<void> {
  const name = { operation, target: key, action: "s3:PutObject" };
  const input = {
    Bucket: caller.place.bucket,
    Key: caller.place.prefix + key,
    Body: body,
    ContentLength: body.length,
    ChecksumCRC32C: crc32cText(body),
    ...(operation === "put-if-absent" && { IfNoneMatch: "*" }),
  };
  await caller.call(name, options, (client, http) => client.send(new PutObjectCommand(input), http));
}
