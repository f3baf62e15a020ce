import { fileURLToPath } from "node:url";
import { OutlastError } from "../core/index.ts";
import { openFileStore } from "./file/index.ts";
import type { ObjectStore } from "./object-store.ts";

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
  return openFileStore(location, folderOf(location), options);
}

function folderOf(location: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(location)?.[1]?.toLowerCase();
  if (location === "") throw usage(location, "the store's location is empty");
  if (scheme === "gs" || scheme === "s3") {
    throw usage(location, `${scheme}:// stores are not in this version: ${location}`);
  }
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
