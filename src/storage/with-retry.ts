import { type RetryOptions, retry } from "../core/index.ts";
import { keepDirectFolder } from "./direct-folder.ts";
import type { CallOptions, ObjectInfo, ObjectStore } from "./object-store.ts";

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
  return keepDirectFolder<ObjectStore>(
    {
      url: store.url,
      put: (key, body, call) => again(call, () => store.put(key, body, call)),
      putIfAbsent: (key, body, call) => again(call, () => store.putIfAbsent(key, body, call)),
      get: (key, call) => again(call, () => store.get(key, call)),
      delete: (key, call) => again(call, () => store.delete(key, call)),
      list: (prefix, call) => listAgain(store, prefix, options, call),
    },
    store,
  );
}

/** Lists again after a fault and goes on behind the last key given. */
async function* listAgain(
  store: ObjectStore,
  prefix: string,
  options: Omit<RetryOptions, "signal">,
  call: CallOptions | undefined,
): AsyncGenerator<ObjectInfo> {
  let last = "";
  let source = store.list(prefix, call)[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await source.next();
    } catch (error) {
      source = store.list(prefix, call)[Symbol.asyncIterator]();
      throw error;
    }
  };
  for (;;) {
    call?.signal?.throwIfAborted();
    const step = await retry(next, { ...options, signal: call?.signal });
    if (step.done) return;
    if (step.value.key <= last) continue;
    last = step.value.key;
    yield step.value;
  }
}
