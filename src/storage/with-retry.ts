import { type RetryOptions, retry } from "../core/index.ts";
import type { CallOptions, ObjectStore } from "./object-store.ts";
import { keepAddress } from "./store-address.ts";

/**
 * The same store, each call repeated while its error says that may help.
 *
 * A repeated `putIfAbsent` whose first reply was lost answers "exists" for the caller's own object: who needs to know whose
 * it is puts an id inside.
 */
export function withRetry(store: ObjectStore, options: Omit<RetryOptions, "signal">): ObjectStore {
  const again = async <T>(call: CallOptions | undefined, act: () => Promise<T>): Promise<T> => {
    call?.signal?.throwIfAborted();
    return retry(act, { ...options, signal: call?.signal });
  };
  return keepAddress<ObjectStore>(
    {
      url: store.url,
      put: (key, body, call) => again(call, () => store.put(key, body, call)),
      putIfAbsent: (key, body, call) => again(call, () => store.putIfAbsent(key, body, call)),
      get: (key, call) => again(call, () => store.get(key, call)),
      delete: (key, call) => again(call, () => store.delete(key, call)),
      list: (prefix, call) =>
        listAgain(
          () => store.list(prefix, call),
          (info) => info.key,
          options,
          call,
        ),
      folders: (prefix, call) =>
        listAgain(
          () => store.folders(prefix, call),
          (name) => name,
          options,
          call,
        ),
    },
    store,
  );
}

/** Lists again after a fault and goes on behind the last key given. */
async function* listAgain<T>(
  list: () => AsyncIterable<T>,
  keyOf: (entry: T) => string,
  options: Omit<RetryOptions, "signal">,
  call: CallOptions | undefined,
): AsyncGenerator<T> {
  let last = "";
  let source = list()[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await source.next();
    } catch (error) {
      source = list()[Symbol.asyncIterator]();
      throw error;
    }
  };
  for (;;) {
    call?.signal?.throwIfAborted();
    const step = await retry(next, { ...options, signal: call?.signal });
    if (step.done) return;
    if (keyOf(step.value) <= last) continue;
    last = keyOf(step.value);
    yield step.value;
  }
}
