import { OutlastError } from "../../../src/core/index.ts";
import type { ObjectStore } from "../../../src/storage/index.ts";
import { keepAddress } from "../../../src/storage/store-address.ts";

/** A dead machine asks for nothing more. Only requests that begin are refused: what is on its way stays there. */
export function mortal(store: ObjectStore, plan: { readonly isDead: boolean }): ObjectStore {
  const alive = <T>(act: () => T): T => {
    if (!plan.isDead) return act();
    throw new OutlastError("OUTLAST_STORE_UNREACHABLE", "this machine is dead");
  };
  const wrapped: ObjectStore = {
    url: store.url,
    get: async (key, options) => alive(() => store.get(key, options)),
    put: async (key, body, options) => alive(() => store.put(key, body, options)),
    putIfAbsent: async (key, body, options) => alive(() => store.putIfAbsent(key, body, options)),
    list: (prefix, options) => alive(() => store.list(prefix, options)),
    folders: (prefix, options) => alive(() => store.folders(prefix, options)),
    delete: async (key, options) => alive(() => store.delete(key, options)),
  };
  // It still is a bucket to those who ask: what comes from one may have been garbled on its way.
  return keepAddress(wrapped, store);
}

/** The same store, its objects read only once: nothing changes any more. */
export function readOnce(store: ObjectStore): ObjectStore {
  const read = new Map<string, Promise<Uint8Array>>();
  const get: ObjectStore["get"] = (key, options) => {
    if (options?.into) return store.get(key, options);
    const bytes = read.get(key) ?? store.get(key, options);
    read.set(key, bytes);
    return bytes;
  };
  const wrapped: ObjectStore = {
    url: store.url,
    get,
    put: (key, body, options) => store.put(key, body, options),
    putIfAbsent: (key, body, options) => store.putIfAbsent(key, body, options),
    list: (prefix, options) => store.list(prefix, options),
    folders: (prefix, options) => store.folders(prefix, options),
    delete: (key, options) => store.delete(key, options),
  };
  return keepAddress(wrapped, store);
}
