import { abortable } from "./abortable.ts";
import type { CallOptions, ObjectStore } from "./object-store.ts";
import { keepAddress } from "./store-address.ts";

/** The same store with at most `most` calls under way at a time; the others wait in order. */
export function withLimit(store: ObjectStore, most: number): ObjectStore {
  let running = 0;
  const waiting: (() => void)[] = [];

  const limited = async <T>(call: CallOptions | undefined, act: () => Promise<T>): Promise<T> => {
    if (running >= most) await turn(call?.signal);
    else running += 1;
    try {
      return await act();
    } finally {
      // The place is handed on, not freed, so that nobody can slip in before who waits longest.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };

  const turn = async (signal: AbortSignal | undefined): Promise<void> => {
    let start: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    waiting.push(start);
    try {
      await abortable(started, signal);
    } catch (error) {
      const at = waiting.indexOf(start);
      if (at >= 0) waiting.splice(at, 1);
      throw error;
    }
  };

  // Each step of a listing takes a place of its own: a caller that deletes what it lists would else wait for itself.
  async function* steps<T>(listing: AsyncIterable<T>, call: CallOptions | undefined): AsyncGenerator<T> {
    const source = listing[Symbol.asyncIterator]();
    for (;;) {
      const step = await limited(call, () => source.next());
      if (step.done) return;
      yield step.value;
    }
  }

  return keepAddress<ObjectStore>(
    {
      url: store.url,
      put: (key, body, call) => limited(call, () => store.put(key, body, call)),
      putIfAbsent: (key, body, call) => limited(call, () => store.putIfAbsent(key, body, call)),
      get: (key, call) => limited(call, () => store.get(key, call)),
      delete: (key, call) => limited(call, () => store.delete(key, call)),
      list: (prefix, call) => steps(store.list(prefix, call), call),
      folders: (prefix, call) => steps(store.folders(prefix, call), call),
    },
    store,
  );
}
