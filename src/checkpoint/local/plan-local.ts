import type { CompleteCheckpoint } from "../detect/index.ts";
import type { CommitState } from "../log/state.ts";
import type { Note } from "./note.ts";

export interface LocalInputs {
  /** Complete checkpoints found in the directory before the child starts, oldest first. */
  readonly found: readonly CompleteCheckpoint[];
  /** The commit to resume from, if any. */
  readonly target: CommitState | undefined;
  /** Whether the run ever had a commit. */
  readonly hasCommits: boolean;
  readonly of: number;
  readonly run: string;
  readonly store: string;
  readonly note: Note | undefined;
  readonly boot: string;
  /** Whether a checkpoint's files are those of the target, by size and time. */
  readonly isTarget: (checkpoint: CompleteCheckpoint) => boolean;
}

/** What to do with what lies in the directory. */
export interface LocalPlan {
  /** Newer than the target and of the same past: resumed from and shipped, oldest first. */
  readonly keep: readonly CompleteCheckpoint[];
  /** Newer than the target but of an unknown past: moved aside. */
  readonly aside: readonly CompleteCheckpoint[];
}

/**
 * Decides which leftovers of the directory belong to this run's past. Without any commit, what the first start finds there is adopted. Otherwise only a note that names
 * the target (as its base, or by the start that committed it) proves that nobody else has gone on since; and only on the same boot are files that nobody
 * fsynced sure to be whole. Shards never keep leftovers: their neighbours may have gone on from elsewhere.
 */
export function planLocal(inputs: LocalInputs): LocalPlan {
  const { found, target, note } = inputs;
  if (!inputs.hasCommits) {
    // The very first start adopts what it finds. A later one must not adopt what a killed program left half saved.
    const isFirst = note === undefined || note.run !== inputs.run || note.store !== inputs.store;
    const isWhole = (checkpoint: CompleteCheckpoint) =>
      isFirst || checkpoint.state === "marked" || note.complete.includes(checkpoint.fingerprint);
    const keep = inputs.of === 1 ? found.filter(isWhole) : [];
    return { keep, aside: found.filter((checkpoint) => !keep.includes(checkpoint)) };
  }
  const newer = found.filter((checkpoint) => {
    if (checkpoint.step !== undefined && target) return checkpoint.step > target.step;
    return !inputs.isTarget(checkpoint);
  });
  const isOurs =
    inputs.of === 1 &&
    target !== undefined &&
    note !== undefined &&
    note.run === inputs.run &&
    note.store === inputs.store &&
    note.boot === inputs.boot &&
    (note.base === target.at || note.epoch === target.epoch);
  const isProven = (checkpoint: CompleteCheckpoint) =>
    isOurs && (checkpoint.state === "marked" || note.complete.includes(checkpoint.fingerprint));
  return { keep: newer.filter(isProven), aside: newer.filter((checkpoint) => !isProven(checkpoint)) };
}
