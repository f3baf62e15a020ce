import type { LogRecord } from "../log/record.ts";
import type { RunLog } from "../log/run-log.ts";
import type { CommitState, LogState } from "../log/state.ts";
import type { RunStore } from "../run-store.ts";
import { type Deleted, deleteAll, noneDeleted } from "./delete-all.ts";
import { type NamedObjects, namedObjects } from "./named-objects.ts";
import { planRetention, type RetentionPlan } from "./plan.ts";

export interface PruneResult extends Deleted {
  readonly plan: RetentionPlan;
}

export interface PruneOptions {
  /** How many good commits to keep; never fewer than two are. */
  readonly keep: number;
  /** Only say what would be dropped. @default false */
  readonly dryRun?: boolean;
  /** Filled with the chunk keys of every manifest read, for a collection right after. */
  readonly known?: Map<string, readonly string[]>;
}

/**
 * Drops commits that are no longer needed, then deletes what only they named. Order: look whether what is kept is really there, write the drop,
 * delete chunks, delete manifests. Dying after any of these leaves nothing worse than objects nobody names.
 */
export async function pruneCommits(
  run: RunStore,
  log: RunLog,
  options: PruneOptions,
  signal?: AbortSignal,
): Promise<PruneResult> {
  for (;;) {
    const head = await log.head(signal);
    if (!head) return { plan: { keep: [], drop: [] }, ...noneDeleted };
    const rough = planRetention(head.state, options.keep);
    if (rough.drop.length === 0) return { plan: rough, ...noneDeleted };
    const named = await readNamed(run, head.state, signal, options.known);
    const present = await listChunks(run, signal);
    const plan = planRetention(head.state, options.keep, findSuspects(named, present));
    if (plan.drop.length === 0 || options.dryRun) return { plan, ...noneDeleted };
    const dropped = await writeDrop(log, head, plan, signal);
    if (!dropped) continue; // Somebody else moved the log: decide again from the start.
    return { plan, ...(await deleteUnnamed(run, plan, named, present, signal)) };
  }
}

/** Appends the drop if the log has not moved since the plan was made. */
async function writeDrop(
  log: RunLog,
  planned: LogRecord,
  plan: RetentionPlan,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const outcome = await log.append<undefined>((head) => {
    if (head?.id !== planned.id) return { result: undefined };
    return { append: { kind: "drop", commits: plan.drop.map((commit) => commit.at).toSorted((a, b) => a - b) } };
  }, signal);
  return "appended" in outcome;
}

async function readNamed(
  run: RunStore,
  state: LogState,
  signal: AbortSignal | undefined,
  known: Map<string, readonly string[]> | undefined,
): Promise<Map<CommitState, NamedObjects | undefined>> {
  const named = new Map<CommitState, NamedObjects | undefined>();
  for (const commit of state.commits) named.set(commit, await namedObjects(run, state, commit, signal, known));
  return named;
}

async function listChunks(run: RunStore, signal: AbortSignal | undefined): Promise<Map<string, number>> {
  const present = new Map<string, number>();
  for await (const { key, size } of run.list("chunks/", { signal })) present.set(key, size);
  return present;
}

function findSuspects(
  named: ReadonlyMap<CommitState, NamedObjects | undefined>,
  present: ReadonlyMap<string, number>,
): Set<number> {
  const suspects = new Set<number>();
  for (const [commit, objects] of named) {
    if (!objects || [...objects.chunks].some((key) => !present.has(key))) suspects.add(commit.at);
  }
  return suspects;
}

/**
 * Deletes what only dropped commits named. No later commit can name it: reuse needs a commit that is live at the position before. If the manifests of a kept commit could not
 * be read, its chunks are unknown and nothing is deleted.
 */
async function deleteUnnamed(
  run: RunStore,
  plan: RetentionPlan,
  named: ReadonlyMap<CommitState, NamedObjects | undefined>,
  present: ReadonlyMap<string, number>,
  signal: AbortSignal | undefined,
): Promise<Deleted> {
  const kept = new Set<string>();
  for (const commit of plan.keep) {
    const objects = named.get(commit);
    if (!objects) return noneDeleted;
    for (const key of objects.chunks) kept.add(key);
  }
  const chunks = new Map<string, number>();
  const manifests = new Map<string, number>();
  for (const commit of plan.drop) {
    for (const ref of commit.manifests) manifests.set(ref.key, 0);
    for (const key of named.get(commit)?.chunks ?? []) if (!kept.has(key)) chunks.set(key, present.get(key) ?? 0);
  }
  return deleteAll(run, new Map([...chunks, ...manifests]), signal);
}
