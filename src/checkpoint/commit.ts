import type { RecordBody } from "./log/record.ts";
import type { RunLog } from "./log/run-log.ts";
import { type CommitState, commitAt, type LogState, type ManifestRef } from "./log/state.ts";
import type { Manifest } from "./manifest.ts";
import { getLooseManifest, parseManifestKey } from "./manifest-codec.ts";
import type { RunStore } from "./run-store.ts";
import { requireTenure, type Tenure } from "./tenure.ts";

/** What became of a shard's stored manifest. */
export type CommitOutcome =
  | { readonly kind: "committed"; readonly commit: CommitState }
  /** Other shards have not stored this step yet; the last one in commits it. */
  | { readonly kind: "waiting" }
  /** A newer step was committed meanwhile; committing this one would retire it. */
  | { readonly kind: "older" }
  /** A commit whose chunks it reuses is no longer live and whole. */
  | { readonly kind: "reuse-lost" };

/**
 * Makes a stored manifest a commit, if this start is still in charge at that very position. With several shards, the one that sees all manifests of its gang
 * commits for all; it checks what all of them reuse, not only its own.
 */
export async function commitManifest(
  run: RunStore,
  log: RunLog,
  tenure: Tenure,
  own: { readonly manifest: Manifest; readonly ref: ManifestRef },
  signal?: AbortSignal,
): Promise<CommitOutcome> {
  const { step } = own.manifest;
  const all = tenure.of === 1 ? [own] : await gatherManifests(run, tenure, own, signal);
  if (all.length < tenure.of) return { kind: "waiting" };
  const reuses = new Set(all.flatMap(({ manifest }) => manifest.chunks.flatMap((chunk) => chunk.from ?? [])));
  const body: RecordBody = {
    kind: "commit",
    epoch: tenure.epoch,
    gang: tenure.gang,
    step,
    manifests: all.map(({ ref }) => ref),
    reuses: [...reuses].toSorted((a, b) => a - b),
    bytes: all.reduce((sum, { manifest }) => sum + manifest.bytes, 0),
    files: all.reduce((sum, { manifest }) => sum + manifest.entries.filter((entry) => entry.type === "file").length, 0),
    savedAt: all.map(({ manifest }) => manifest.savedAt).reduce((a, b) => (a > b ? a : b)),
  };
  const outcome = await log.append<CommitOutcome>((head) => {
    const state = requireTenure(head, run.run, tenure);
    const equal = state.commits.find((commit) => commit.gang === tenure.gang && commit.step === step);
    if (equal) return { result: { kind: "committed", commit: equal } };
    if (state.gangStep !== null && step <= state.gangStep) return { result: { kind: "older" } };
    if (!canReuse(state, body.reuses)) return { result: { kind: "reuse-lost" } };
    return { append: body };
  }, signal);
  if ("result" in outcome) return outcome.result;
  const commit = commitAt(outcome.appended.state, outcome.appended.n);
  if (!commit) throw new Error(`record ${outcome.appended.n} is not a commit`);
  return { kind: "committed", commit };
}

/** Whether all these commits are live and whole, so that their chunks are there and stay. */
export function canReuse(state: LogState, positions: Iterable<number>): boolean {
  for (const position of positions) {
    const commit = commitAt(state, position);
    if (!commit || commit.damaged) return false;
  }
  return true;
}

/** The newest manifest of each shard for this step and gang, in order of shards; fewer than all while some are missing. */
async function gatherManifests(
  run: RunStore,
  tenure: Tenure,
  own: { readonly manifest: Manifest; readonly ref: ManifestRef },
  signal: AbortSignal | undefined,
): Promise<{ manifest: Manifest; ref: ManifestRef }[]> {
  const newest = new Map<number, { key: string; shipment: number }>();
  for await (const { key } of run.list(`steps/${own.manifest.step}/`, { signal })) {
    const name = parseManifestKey(key);
    // Only of this gang: a shard's manifest of the same step from an earlier past must not be mixed in.
    if (!name || name.gang !== tenure.gang || name.of !== tenure.of || name.shard === tenure.shard) continue;
    if ((newest.get(name.shard)?.shipment ?? -1) < name.shipment)
      newest.set(name.shard, { key, shipment: name.shipment });
  }
  if (newest.size < tenure.of - 1) return [own];
  const others = await Promise.all(
    [...newest.values()].map(({ key }) => getLooseManifest(run, key, own.manifest.hash, signal)),
  );
  return [own, ...others].toSorted((a, b) => a.manifest.shard - b.manifest.shard);
}
