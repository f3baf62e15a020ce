import type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "../../src/storage/index.ts";

/** A call at which a machine is frozen. */
export interface Hold {
  /** Resolves when the machine has come to that call. */
  readonly reached: Promise<void>;
  /** Lets it go on. */
  release(): void;
}

type Operation = "put" | "putIfAbsent" | "get" | "list" | "delete";

interface Waiting {
  readonly operation: Operation;
  readonly key: RegExp;
  readonly reach: () => void;
  readonly released: Promise<void>;
}

/** A store in which one machine can be frozen just before a chosen call, as a stalled process or network would. */
export class HeldStore implements ObjectStore {
  readonly url = "held:";
  readonly #store: ObjectStore;
  #holds: Waiting[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Freezes the machine before its next call of this kind on a key (below the run) that matches. */
  hold(operation: Operation, key: RegExp): Hold {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#holds.push({ operation, key, reach: reached.resolve, released: released.promise });
    return { reached: reached.promise, release: released.resolve };
  }

  async put(key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
    await this.#pass("put", key);
    return this.#store.put(key, body, options);
  }

  async putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists"> {
    await this.#pass("putIfAbsent", key);
    return this.#store.putIfAbsent(key, body, options);
  }

  async get(key: string, options?: GetOptions): Promise<Uint8Array> {
    await this.#pass("get", key);
    return this.#store.get(key, options);
  }

  async *list(prefix: string, options?: CallOptions): AsyncIterable<ObjectInfo> {
    await this.#pass("list", prefix);
    yield* this.#store.list(prefix, options);
  }

  folders(prefix: string, options?: CallOptions): AsyncIterable<string> {
    return this.#store.folders(prefix, options);
  }

  async delete(key: string, options?: CallOptions): Promise<void> {
    await this.#pass("delete", key);
    return this.#store.delete(key, options);
  }

  async #pass(operation: Operation, key: string): Promise<void> {
    const name = key.slice(key.indexOf("/") + 1);
    const hold = this.#holds.find((candidate) => candidate.operation === operation && candidate.key.test(name));
    if (!hold) return;
    this.#holds = this.#holds.filter((candidate) => candidate !== hold);
    hold.reach();
    await hold.released;
  }
}
