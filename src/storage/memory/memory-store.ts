import { OutlastError } from "../../core/index.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "../object-store.ts";

/** A store in this process's memory, for tests. */
export class MemoryStore implements ObjectStore {
  readonly url: string;
  readonly #objects: Map<string, Uint8Array>;

  constructor(url = "memory:", objects: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.url = url;
    this.#objects = new Map(objects);
  }

  /** What is stored now, by key; changing it changes the store, as damage would. */
  get objects(): Map<string, Uint8Array> {
    return this.#objects;
  }

  async put(key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
    await this.#enter(key, "put", options);
    this.#objects.set(key, Uint8Array.from(body));
  }

  async putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists"> {
    await this.#enter(key, "put-if-absent", options);
    if (this.#objects.has(key)) return "exists";
    this.#objects.set(key, Uint8Array.from(body));
    return "created";
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array> {
    await this.#enter(key, "get", options);
    const object = this.#objects.get(key);
    if (!object) {
      throw new OutlastError("OUTLAST_OBJECT_NOT_FOUND", `there is no object ${key} in the store`, {
        operation: "get",
        target: key,
      });
    }
    const { offset, length } = options.range ?? { offset: 0, length: object.length };
    const part = object.subarray(Math.min(offset, object.length), Math.min(offset + length, object.length));
    if (!options.into) return Uint8Array.from(part);
    if (options.into.length < part.length) {
      throw new OutlastError("OUTLAST_USAGE", `${key} needs ${part.length} bytes but the buffer has fewer`, {
        operation: "get",
        target: key,
      });
    }
    options.into.set(part);
    return options.into.subarray(0, part.length);
  }

  async *list(prefix: string, options?: CallOptions): AsyncIterable<ObjectInfo> {
    assertPrefix(prefix);
    await Promise.resolve();
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    for (const key of keys) {
      options?.signal?.throwIfAborted();
      const object = this.#objects.get(key);
      if (object) yield { key, size: object.length };
    }
  }

  async *folders(prefix: string, options?: CallOptions): AsyncIterable<string> {
    let last = "";
    for await (const { key } of this.list(prefix, options)) {
      const end = key.indexOf("/", prefix.length);
      const name = key.slice(prefix.length, end + 1);
      if (end < 0 || name === last) continue;
      last = name;
      yield name;
    }
  }

  async delete(key: string, options?: CallOptions): Promise<void> {
    await this.#enter(key, "delete", options);
    this.#objects.delete(key);
  }

  async #enter(key: string, operation: string, options: CallOptions | undefined): Promise<void> {
    assertKey(key, operation);
    options?.signal?.throwIfAborted();
    await Promise.resolve();
  }
}
