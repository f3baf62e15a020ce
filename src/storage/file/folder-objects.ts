import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  fsync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { randomId, systemCode } from "../../core/index.ts";
import { asideFolder, assertKey } from "../keys.ts";
import { notFound, storeError } from "./system-error.ts";

const sliceBytes = 256 * 1024;
const pageBytes = 4096;
const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

/** Whether written bytes go past the page cache. */
export type WriteMode = "direct" | "buffered";

/**
 * A directory store's objects for worker threads: the same files as `FileStore`, by blocking calls that copy nothing.
 *
 * Objects written here are durable only after {@link settle}, which fsyncs each folder once for all of them.
 */
export class FolderObjects {
  readonly #root: string;
  #mode: WriteMode;
  readonly #known = new Set<string>();
  readonly #dirty = new Set<string>();

  constructor(root: string, mode: WriteMode = "buffered") {
    this.#root = root;
    this.#mode = mode;
  }

  /** Writes an object. The bytes may be reused when this returns; the object is in place when `placed` resolves. */
  write(key: string, bytes: Uint8Array): { readonly placed: Promise<void> } {
    assertKey(key, "put");
    const path = join(this.#root, asideFolder, randomId());
    let fd: number;
    try {
      fd = this.#open(path, bytes);
    } catch (error) {
      throw storeError(error, "put", key);
    }
    try {
      this.#fill(fd, bytes);
    } catch (error) {
      closeSync(fd);
      discard(path);
      throw storeError(error, "put", key);
    }
    return { placed: this.#place(fd, path, key) };
  }

  /** Reads an object into a buffer; `size` is the object's own, also where the buffer holds less. */
  read(key: string, into: Uint8Array): { readonly bytes: Uint8Array; readonly size: number } {
    assertKey(key, "get");
    try {
      const fd = openSync(join(this.#root, key), "r");
      try {
        const { size } = fstatSync(fd);
        const length = Math.min(size, into.length);
        let at = 0;
        while (at < length) {
          const read = readSync(fd, into, at, length - at, at);
          if (read === 0) break;
          at += read;
        }
        return { bytes: into.subarray(0, at), size };
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") throw notFound("get", key, error);
      throw storeError(error, "get", key);
    }
  }

  /** Makes every object placed so far durable. */
  async settle(): Promise<void> {
    const folders = [...this.#dirty];
    this.#dirty.clear();
    for (const folder of folders) {
      try {
        const fd = openSync(folder, "r");
        try {
          await syncAll(fd);
        } finally {
          closeSync(fd);
        }
      } catch (error) {
        throw storeError(error, "put", folder);
      }
    }
  }

  #open(path: string, bytes: Uint8Array): number {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    if (this.#mode === "direct" && bytes.byteOffset % pageBytes === 0) {
      try {
        return openSync(path, flags | constants.O_DIRECT, 0o666);
      } catch (error) {
        // tmpfs and some network file systems have no direct writes.
        if (systemCode(error) !== "EINVAL") throw error;
        this.#mode = "buffered";
      }
    }
    return openSync(path, flags, 0o666);
  }

  #fill(fd: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(fd, bytes, at, Math.min(sliceBytes, bytes.length - at), at);
    }
    void ftruncateSync;
  }

  async #place(fd: number, path: string, key: string): Promise<void> {
    try {
      try {
        await syncData(fd);
      } finally {
        closeSync(fd);
      }
      const target = join(this.#root, key);
      const folder = dirname(target);
      this.#ensure(folder);
      try {
        renameSync(path, target);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw error;
        // Somebody removed the folder since it was last used.
        this.#known.clear();
        this.#ensure(folder);
        renameSync(path, target);
      }
      this.#dirty.add(folder);
    } catch (error) {
      discard(path);
      throw storeError(error, "put", key);
    }
  }

  /** Creates a folder and notes that its parents must be fsynced, whoever made it. */
  #ensure(folder: string): void {
    if (folder === this.#root || this.#known.has(folder)) return;
    const parent = dirname(folder);
    this.#ensure(parent);
    try {
      mkdirSync(folder);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    this.#dirty.add(parent);
    this.#known.add(folder);
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Renamed, swept or unreachable: the failure being reported is the one that matters, and sweeping takes care of the rest.
  }
}
