import { OutlastError } from "../../core/index.ts";
import { type CommitState, type LogState, restorable } from "../log/state.ts";
import type { FormerCopy } from "./former-copies.ts";

/** What a copy would do. */
export interface CopyPlan {
  /** In the order in which they are to be committed: oldest first. */
  readonly missing: readonly CommitState[];
  readonly there: readonly CommitState[];
  /** Left out: committed now, they would stand above newer ones that the target holds. */
  readonly behind: readonly CommitState[];
}

/**
 * Chooses what to copy: the source's good checkpoints, or the one of a step, less what the target holds. Good ones rise in step as in position, so
 * that each may follow the one before in one tenure.
 */
export function planCopy(
  run: string,
  state: LogState,
  held: readonly FormerCopy[],
  step: number | undefined,
): CopyPlan {
  const wanted = step === undefined ? goodOnes(state) : [ofStep(run, state, step)];
  const originals = new Set(held.map((copy) => copy.originalAt));
  const isBehind = (commit: CommitState) =>
    held.some(({ commit: other, originalAt }) => !other.retired && originalAt > commit.at && other.step >= commit.step);
  const missing = wanted.filter((commit) => !originals.has(commit.at));
  return {
    there: wanted.filter((commit) => originals.has(commit.at)),
    missing: missing.filter((commit) => !isBehind(commit)),
    behind: missing.filter(isBehind),
  };
}

function goodOnes(state: LogState): CommitState[] {
  return state.commits.filter((commit) => !commit.damaged && !commit.retired);
}

function ofStep(run: string, state: LogState, step: number): CommitState {
  const commit = restorable(state).find((candidate) => candidate.step === step);
  if (commit) return commit;
  throw new OutlastError("OUTLAST_CHECKPOINT_UNKNOWN", `run ${run} has no whole checkpoint of step ${step}`, {
    hint: `it has steps ${
      goodOnes(state)
        .map((candidate) => candidate.step)
        .join(", ") || "none"
    }`,
  });
}
