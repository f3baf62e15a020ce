import { FileStore } from "./file/index.ts";
import type { ObjectStore } from "./object-store.ts";

const inner = new WeakMap<ObjectStore, ObjectStore>();

/** Says that `outer` only adds patience to `store`: going past it to the files gives the same objects. */
export function keepDirectFolder<S extends ObjectStore>(outer: S, store: ObjectStore): S {
  inner.set(outer, store);
  return outer;
}

/**
 * The directory whose files are this store's objects, if it is a plain directory store. Worker threads then read and write
 * the files themselves; a store that injects faults is not plain, so its faults are never gone past.
 */
export function directFolder(store: ObjectStore): string | undefined {
  if (store instanceof FileStore) return store.root;
  const next = inner.get(store);
  return next && directFolder(next);
}
