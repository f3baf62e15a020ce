import { fileURLToPath } from "node:url";
import { OutlastError } from "../core/index.ts";
import { openFileStore } from "./file/index.ts";
import { parseBucketUrl } from "./bucket-url.ts";
import type { BucketStore, CallOptions, ObjectStore } from "./object-store.ts";
import { setAddress, type StoreAddress } from "./store-address.ts";

/** How {@link openStore} opens. */
export interface OpenStoreOptions {
  /**
   * `read` needs no write permission, creates nothing and refuses writes; `write` also checks that the store can keep
   * its promises.
   */
  readonly access: "read" | "write";
}

/**
 * Opens the store at a path or URL.
 *
 * @example
 * const store = await openStore("/mnt/checkpoints", { access: "write" });
 */
export async function openStore(location: string, options: OpenStoreOptions): Promise<ObjectStore> {
  if (!/^(gs|s3):/i.test(location)) return openFileStore(location, folderOf(location), options);
  const store = await openBucket(location, options);
  await store.check();
  return store;
}

/** Opens a store that was opened and found fit before, in another thread: asks nothing of it. */
export async function reopenStore(address: StoreAddress): Promise<ObjectStore> {
  if (address.kind === "bucket") return openBucket(address.url, { access: "write" });
  return openFileStore(address.root, address.root, { access: "write" });
}

/** Where the data of the bucket at this URL is; undefined for a directory, and where the server does not say. */
export async function locateStore(location: string, options?: CallOptions): Promise<string | undefined> {
  if (!/^(gs|s3):/i.test(location)) return undefined;
  return (await openBucket(location, { access: "read" })).location(options);
}

/** The clients are large: each is loaded when its scheme is used, and not before. */
async function openBucket(location: string, options: OpenStoreOptions): Promise<BucketStore> {
  const place = parseBucketUrl(location);
  const { openBucketStore } = await (place.scheme === "gs" ? import("./gcs/index.ts") : import("./s3/index.ts"));
  return setAddress(openBucketStore(place, options), { kind: "bucket", url: location });
}

function folderOf(location: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(location)?.[1]?.toLowerCase();
  if (location === "") throw usage(location, "the store's location is empty");
  if (scheme === "file") return fileUrlPath(location);
  if (location.includes("://")) throw usage(location, `"${scheme}" is not a kind of store: ${location}`);
  return location;
}

function fileUrlPath(location: string): string {
  // "file:runs/store" is not a URL by the letter, but what it means is plain.
  if (!location.slice("file:".length).startsWith("/")) return location.slice("file:".length);
  try {
    return fileURLToPath(location);
  } catch (error) {
    throw usage(location, `${location} does not name a local directory`, error);
  }
}

function usage(location: string, message: string, cause?: unknown): OutlastError {
  return new OutlastError("OUTLAST_USAGE", message, {
    operation: "open",
    target: location,
    hint: "give a directory, as /mnt/checkpoints or file:///mnt/checkpoints",
    ...(cause === undefined ? {} : { cause }),
  });
}
