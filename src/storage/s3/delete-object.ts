import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import type { CallOptions } from "../object-store.ts";
import type { S3Caller } from "./s3-caller.ts";

/** Deletes an object; the server does not mind when there is none. */
export async function deleteObject(caller: S3Caller, key: string, options: CallOptions | undefined): Promise<void> {
  const { bucket, prefix } = caller.place;
  const name = { operation: "delete", target: key, action: "s3:DeleteObject" };
  const input = { Bucket: bucket, Key: prefix + key };
  await caller.call(name, options, (client, http) => client.send(new DeleteObjectCommand(input), http));
}
