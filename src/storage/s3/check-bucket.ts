import { OutlastError, randomId } from "../../core/index.ts";
import { asideFolder } from "../keys.ts";
import type { CallOptions } from "../object-store.ts";
import { deleteObject } from "./delete-object.ts";
import { listPages } from "./list-objects.ts";
import { createObject } from "./put-object.ts";
import type { S3Caller } from "./s3-caller.ts";

/** Shows that the bucket is there and may be read and, for writing, that it creates a name only once. */
export async function checkBucket(caller: S3Caller, access: "read" | "write", options?: CallOptions): Promise<void> {
  const [listed, probed] = await Promise.allSettled([
    listPages(caller, { prefix: "", most: 1 }, options).next(),
    access === "write" ? probe(caller, options) : Promise.resolve(),
  ]);
  if (listed.status === "rejected") throw listed.reason;
  if (probed.status === "rejected") throw probed.reason;
}

/** Creates a name twice: the first must succeed and the second be refused. Everything here rests on that. */
async function probe(caller: S3Caller, options: CallOptions | undefined): Promise<void> {
  const { place } = caller;
  const key = `${asideFolder}/probe-${randomId()}`;
  const create = (text: string) => createObject(caller, key, new TextEncoder().encode(text), options);
  const outcomes = [await create("first")];
  try {
    outcomes.push(await create("second"));
  } finally {
    await deleteObject(caller, key, options);
  }
  if (outcomes[0] === "created" && outcomes[1] === "exists") return;
  const seen = `creating an object twice gave "${outcomes.join('", "')}" instead of "created", "exists"`;
  throw new OutlastError("OUTLAST_STORE_UNSUITABLE", `${place.url} cannot hold a store: ${seen}`, {
    operation: "open",
    target: place.url,
    hint: "two supervisors would overwrite each other there; use a server that honours If-None-Match on writes",
  });
}
