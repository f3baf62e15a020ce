import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { randomId, systemCode } from "../../core/index.ts";
import { asideFolder, assertKey } from "../keys.ts";
import { notFound, storeError } from "./system-error.ts";

const sliceBytes = 256 * 1024;
const pageBytes = 4096;
const foldersAtOnce = 8;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);
const writeAt = promisify(write);

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

  /** Writes an object: the bytes may be reused when `released` resolves, the object is in place when `placed` does. */
  write(key: string, bytes: Uint8Array): { readonly released: Promise<void>; readonly placed: Promise<void> } {
    assertKey(key, "put");
    const path = join(this.#root, asideFolder, randomId());
    const written = this.#fill(path, bytes);
    const placed = written
      .then((fd) => this.#place(fd, path, key))
      .catch((error: unknown) => {
        discard(path);
        throw storeError(error, "put", key);
      });
    const over = () => {};
    return { released: written.then(over, over), placed };
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
    // Several at a time: the disk then serves them with one flush of its cache instead of one each.
    const next = folders.values();
    await Promise.all(
      Array.from({ length: foldersAtOnce }, async () => {
        for (const folder of next) await syncFolder(folder);
      }),
    );
  }

  /** Creates a file with these bytes and returns it open. */
  async #fill(path: string, bytes: Uint8Array): Promise<number> {
    if (this.#mode === "direct" && bytes.length > 0 && bytes.length % pageBytes === 0) {
      try {
        return await fillDirect(path, bytes);
      } catch (error) {
        // tmpfs and some network file systems have no direct writes, or want another alignment.
        if (systemCode(error) !== "EINVAL") throw error;
        this.#mode = "buffered";
        discard(path);
      }
    }
    return fillBuffered(path, bytes);
  }

  async #place(fd: number, path: string, key: string): Promise<void> {
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

async function syncFolder(folder: string): Promise<void> {
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

/** Writes past the page cache: no copy, no fresh memory, and the thread is free meanwhile. */
async function fillDirect(path: string, bytes: Uint8Array): Promise<number> {
  const fd = openSync(path, newFile | constants.O_DIRECT, 0o666);
  try {
    for (let at = 0; at < bytes.length; ) at += (await writeAt(fd, bytes, at, bytes.length - at, at)).bytesWritten;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

function fillBuffered(path: string, bytes: Uint8Array): number {
  const fd = openSync(path, newFile, 0o666);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, Math.min(sliceBytes, bytes.length - at), at);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Renamed, swept or unreachable: the failure being reported is the one that matters, and sweeping takes care of the rest.
  }
}
