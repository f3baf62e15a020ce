import { OutlastError } from "../core/index.ts";
import type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "../storage/index.ts";

/** One run's part of a store: keys are relative to `<store>/<run>/`. */
export interface RunStore {
  readonly run: string;
  readonly store: ObjectStore;
  /** `<run>/` */
  readonly prefix: string;
  put(key: string, body: Uint8Array, options?: CallOptions): Promise<void>;
  putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists">;
  get(key: string, options?: GetOptions): Promise<Uint8Array>;
  list(prefix: string, options?: CallOptions): AsyncIterable<ObjectInfo>;
  delete(key: string, options?: CallOptions): Promise<void>;
}

/** Names a run in a store; reads and writes nothing yet. */
export function openRun(store: ObjectStore, run: string): RunStore {
  checkRunName(run);
  const prefix = `${run}/`;
  return {
    run,
    store,
    prefix,
    put: (key, body, options) => store.put(prefix + key, body, options),
    putIfAbsent: (key, body, options) => store.putIfAbsent(prefix + key, body, options),
    get: (key, options) => store.get(prefix + key, options),
    async *list(keyPrefix, options) {
      for await (const info of store.list(prefix + keyPrefix, options)) {
        yield { key: info.key.slice(prefix.length), size: info.size };
      }
    },
    delete: (key, options) => store.delete(prefix + key, options),
  };
}

/** Refuses names that would not be one plain path segment. */
export function checkRunName(run: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(run)) return;
  throw new OutlastError("OUTLAST_USAGE", `run name ${JSON.stringify(run)} cannot be used`, {
    hint: "use 1 to 100 letters, digits, dots, dashes and underscores, starting with a letter or digit, no slashes",
  });
}
