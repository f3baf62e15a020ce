import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOutlastError, OutlastError, systemCode } from "../../core/index.ts";
import { abortable } from "../abortable.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "../object-store.ts";
import type { Aside } from "./aside.ts";
import { DurableFolders, syncFolder } from "./durable-folders.ts";
import { notFound, storeError } from "./system-error.ts";
import { walk, walkFolders } from "./walk.ts";

/**
 * Objects as files below a directory, safe to share between processes and machines.
 *
 * A write goes: aside file → fsync → rename or link to its name → fsync of the folder. A crash after any of these leaves the
 * object whole or absent, and at worst an aside file that a later start sweeps.
 */
export class FileStore implements ObjectStore {
  readonly url: string;
  readonly root: string;
  readonly #aside: Aside;
  readonly #folders: DurableFolders;
  readonly #isWritable: boolean;

  /** Use `openFileStore`, which also checks that the directory is fit. */
  constructor(url: string, root: string, aside: Aside, isWritable: boolean) {
    this.url = url;
    this.root = root;
    this.#aside = aside;
    this.#folders = new DurableFolders(root);
    this.#isWritable = isWritable;
  }

  put(key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
    return this.#write("put", key, options, (target, check) => this.#place(body, target, check));
  }

  putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists"> {
    return this.#write("put-if-absent", key, options, (target, check) => this.#create(body, target, check));
  }

  get(key: string, options: GetOptions = {}): Promise<Uint8Array> {
    return this.#call("get", key, options.signal, async () => {
      let handle: FileHandle | undefined;
      try {
        handle = await open(join(this.root, key), "r");
        return await readObject(handle, key, options);
      } catch (error) {
        const code = systemCode(error);
        if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") throw notFound("get", key, error);
        throw error;
      } finally {
        await handle?.close();
      }
    });
  }

  list(prefix: string, options?: CallOptions): AsyncIterable<ObjectInfo> {
    return this.#listing(prefix, options, walk);
  }

  folders(prefix: string, options?: CallOptions): AsyncIterable<string> {
    return this.#listing(prefix, options, walkFolders);
  }

  async *#listing<T>(
    prefix: string,
    options: CallOptions | undefined,
    read: (root: string, prefix: string, check: () => void) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    assertPrefix(prefix);
    const signal = options?.signal;
    const steps = read(this.root, prefix, () => signal?.throwIfAborted());
    for (;;) {
      const step = await this.#guard(
        "list",
        prefix === "" ? this.url : prefix,
        abortable(steps.next(), signal),
        signal,
      );
      if (step.done) return;
      yield step.value;
    }
  }

  delete(key: string, options?: CallOptions): Promise<void> {
    return this.#write("delete", key, options, async (target) => {
      try {
        // Not fsynced: a deleted object that a crash brings back harms nobody and is deleted again.
        await unlink(target);
      } catch (error) {
        const code = systemCode(error);
        if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      }
    });
  }

  async #place(body: Uint8Array, target: string, check: () => void): Promise<void> {
    const path = await this.#aside.write(body, check);
    try {
      check();
      await this.#inFolder(target, () => rename(path, target));
    } catch (error) {
      await this.#aside.discard(path);
      throw error;
    }
    await syncFolder(dirname(target));
  }

  async #create(body: Uint8Array, target: string, check: () => void): Promise<"created" | "exists"> {
    const path = await this.#aside.write(body, check);
    let outcome: "created" | "exists";
    try {
      check();
      outcome = await this.#inFolder(target, () => this.#aside.linkTo(path, target));
    } finally {
      await this.#aside.discard(path);
    }
    // Also after "exists": the caller builds on that object, whose writer may have died before its own fsync.
    await syncFolder(dirname(target));
    return outcome;
  }

  /** Acts once the folder of `target` is there; once more if somebody removed it in between. */
  async #inFolder<T>(target: string, act: () => Promise<T>): Promise<T> {
    await this.#folders.ensure(dirname(target));
    try {
      return await act();
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      this.#folders.forget();
      await this.#folders.ensure(dirname(target));
      return act();
    }
  }

  #write<T>(
    operation: string,
    key: string,
    options: CallOptions | undefined,
    act: (target: string, check: () => void) => Promise<T>,
  ): Promise<T> {
    return this.#call(operation, key, options?.signal, () => {
      if (!this.#isWritable) {
        throw new OutlastError("OUTLAST_STORE_NOT_WRITABLE", `the store ${this.url} was opened for reading only`, {
          operation,
          target: key,
        });
      }
      return act(join(this.root, key), () => options?.signal?.throwIfAborted());
    });
  }

  async #call<T>(operation: string, key: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    assertKey(key, operation);
    signal?.throwIfAborted();
    return this.#guard(operation, key, abortable(act(), signal), signal);
  }

  async #guard<T>(operation: string, target: string, work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      throw isOutlastError(error) ? error : storeError(error, operation, target);
    }
  }
}

async function readObject(handle: FileHandle, key: string, options: GetOptions): Promise<Uint8Array> {
  const { size } = await handle.stat();
  const offset = Math.min(options.range?.offset ?? 0, size);
  const length = Math.min(options.range?.length ?? size, size - offset);
  if (options.into && options.into.length < length) {
    throw new OutlastError("OUTLAST_USAGE", `${key} needs ${length} bytes but the buffer has ${options.into.length}`, {
      operation: "get",
      target: key,
    });
  }
  const buffer = options.into ? options.into.subarray(0, length) : Buffer.allocUnsafeSlow(length);
  let at = 0;
  while (at < length) {
    options.signal?.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, at, length - at, offset + at);
    // Shorter than its own size: cut off behind our back. What is there is returned; hashes find the damage.
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}
