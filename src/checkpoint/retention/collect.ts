import type { RunLog } from "../log/run-log.ts";
import { parseManifestKey } from "../manifest-codec.ts";
import type { RunStore } from "../run-store.ts";
import { type Deleted, deleteAll, noneDeleted } from "./delete-all.ts";
import { namedObjects } from "./named-objects.ts";

/**
 * Deletes what ended epochs left behind: shipments that were never committed, and objects of dropped commits whose deletion was cut short.
 *
 * Safe at any time: an epoch has ended if its number is at most that of the head read here and it is not current there. It can never commit again, and no other commit
 * can come to name its objects unless a live one does already. An epoch *after* the head read is not ended, only unknown here.
 * `abandoned` names shipments (`<epoch>-<number>`) of the caller's own epoch that no manifest will ever name.
 */
export async function collectLeftovers(
  run: RunStore,
  log: RunLog,
  abandoned: ReadonlySet<string> = new Set(),
  signal?: AbortSignal,
  known: Map<string, readonly string[]> = new Map(),
): Promise<Deleted> {
  const head = await log.head(signal);
  if (!head) return noneDeleted;
  const named = new Set<string>();
  for (const commit of head.state.commits) {
    const objects = await namedObjects(run, head.state, commit, signal, known);
    if (!objects) return noneDeleted; // What it names is unknown, or it was dropped meanwhile: another time.
    for (const key of [...objects.chunks, ...objects.manifests]) named.add(key);
  }
  const current = new Set(head.state.epochs.map((entry) => entry.epoch));
  const isLeftOver = (key: string, owner: Owner | undefined) => {
    if (!owner || named.has(key)) return false;
    return (owner.epoch <= head.n && !current.has(owner.epoch)) || abandoned.has(`${owner.epoch}-${owner.shipment}`);
  };
  const leftovers = new Map<string, number>();
  for await (const { key, size } of run.list("chunks/", { signal }))
    if (isLeftOver(key, chunkOwner(key))) leftovers.set(key, size);
  for await (const { key, size } of run.list("steps/", { signal }))
    if (isLeftOver(key, parseManifestKey(key))) leftovers.set(key, size);
  return deleteAll(run, leftovers, signal);
}

interface Owner {
  readonly epoch: number;
  readonly shipment: number;
}

/** Who sent a chunk, from its key. */
function chunkOwner(key: string): Owner | undefined {
  const match = /^chunks\/[0-9a-f]{2}\/[0-9a-f]{64}\.(\d+)-(\d+)$/.exec(key);
  return match ? { epoch: Number(match[1]), shipment: Number(match[2]) } : undefined;
}
