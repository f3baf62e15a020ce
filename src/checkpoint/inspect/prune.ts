import { OutlastError } from "../../core/index.ts";
import { collectLeftovers } from "../retention/collect.ts";
import { pruneCommits } from "../retention/prune.ts";
import type { RunStore } from "../run-store.ts";
import { type CheckpointInfo, infoOf } from "./list.ts";
import { openLog } from "./open-log.ts";

export interface PruneReport {
  readonly kept: readonly CheckpointInfo[];
  readonly dropped: readonly CheckpointInfo[];
  readonly deletedObjects: number;
  readonly freedBytes: number;
}

/** Drops checkpoints beyond the newest `keep` and deletes what nobody names any more. Safe while the run is going on. */
export async function pruneCheckpoints(
  run: RunStore,
  options: { readonly keep: number; readonly dryRun?: boolean | undefined; readonly signal?: AbortSignal | undefined },
): Promise<PruneReport> {
  const { log } = await openLog(run, options.signal);
  const pruned = await pruneCommits(run, log, { keep: options.keep, dryRun: options.dryRun ?? false }, options.signal);
  const collected = options.dryRun
    ? { deletedObjects: 0, freedBytes: 0 }
    : await collectLeftovers(run, log, new Set(), options.signal);
  return {
    kept: pruned.plan.keep.map(infoOf),
    dropped: pruned.plan.drop.map(infoOf),
    deletedObjects: pruned.deletedObjects + collected.deletedObjects,
    freedBytes: pruned.freedBytes + collected.freedBytes,
  };
}

/** Pins a step's newest checkpoint, so that retention keeps it, or unpins it. */
export async function pinCheckpoint(run: RunStore, step: number, pinned: boolean, signal?: AbortSignal): Promise<void> {
  const { log } = await openLog(run, signal);
  await log.append<undefined>((head) => {
    const commit = head?.state.commits.findLast((candidate) => candidate.step === step);
    if (!commit) {
      throw new OutlastError("OUTLAST_CHECKPOINT_UNKNOWN", `run ${run.run} has no checkpoint of step ${step}`, {
        hint: `it has steps ${head?.state.commits.map((candidate) => candidate.step).join(", ") || "none"}`,
      });
    }
    return commit.pinned === pinned ? { result: undefined } : { append: { kind: "pin", commit: commit.at, pinned } };
  }, signal);
}
