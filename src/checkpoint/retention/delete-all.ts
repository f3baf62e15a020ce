import type { RunStore } from "../run-store.ts";

/** What was deleted. */
export interface Deleted {
  readonly deletedObjects: number;
  readonly freedBytes: number;
}

export const noneDeleted: Deleted = { deletedObjects: 0, freedBytes: 0 };

const atOnce = 8;

/** Deletes objects (key → size) in order, a few at once. */
export async function deleteAll(
  run: RunStore,
  objects: ReadonlyMap<string, number>,
  signal?: AbortSignal,
): Promise<Deleted> {
  const entries = [...objects];
  let next = 0;
  let freedBytes = 0;
  const work = async () => {
    for (let entry = entries[next++]; entry; entry = entries[next++]) {
      await run.delete(entry[0], { signal });
      freedBytes += entry[1];
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, work));
  return { deletedObjects: entries.length, freedBytes };
}
