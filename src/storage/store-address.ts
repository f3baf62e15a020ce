import type { ObjectStore } from "./object-store.ts";

/** How another thread reaches the same store: plain data that can be posted. */
export type StoreAddress =
  | { readonly kind: "folder"; readonly root: string }
  | { readonly kind: "bucket"; readonly url: string };

const addresses = new WeakMap<ObjectStore, StoreAddress>();

/** Says where the objects of `store` can be had by any thread. */
export function setAddress<S extends ObjectStore>(store: S, address: StoreAddress): S {
  addresses.set(store, address);
  return store;
}

/** Says that `outer` only adds patience to `store`: going past it gives the same objects. */
export function keepAddress<S extends ObjectStore>(outer: S, store: ObjectStore): S {
  const address = addresses.get(store);
  return address ? setAddress(outer, address) : outer;
}

/**
 * Where other threads find this store's objects, if they can. A store in memory has no address, nor has one that injects
 * faults: its faults are never gone past.
 */
export function storeAddress(store: ObjectStore): StoreAddress | undefined {
  return addresses.get(store);
}
