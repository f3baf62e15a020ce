import type { CommitState, LogState } from "../log/state.ts";

/** What retention would keep and drop; newest first. */
export interface RetentionPlan {
  readonly keep: readonly CommitState[];
  readonly drop: readonly CommitState[];
}

/**
 * Decides which commits to drop: retired and damaged ones first, then good ones beyond the newest `keep`. Pinned ones stay, and so do two good ones
 * and two whole ones, whatever `keep` says. `suspect` commits (something of theirs was not found) are not counted as good, and go only for their age: a
 * list may lag behind, and whether a commit is damaged is for a start to say.
 */
export function planRetention(state: LogState, keep: number, suspect: ReadonlySet<number> = new Set()): RetentionPlan {
  const newestFirst = state.commits.toReversed();
  const isWhole = (commit: CommitState) => !commit.damaged && !suspect.has(commit.at);
  const good = newestFirst.filter((commit) => isWhole(commit) && !commit.retired);
  const kept = new Set(good.slice(0, Math.max(2, keep)));
  for (const commit of newestFirst) if (commit.pinned) kept.add(commit);
  const wholeKept = () => [...kept].filter(isWhole).length;
  for (const commit of newestFirst) {
    if (commit.retired && isWhole(commit) && wholeKept() < 2) kept.add(commit);
  }
  const oldestGood = good.slice(0, Math.max(2, keep)).at(-1);
  for (const commit of newestFirst) {
    const isSuspect = suspect.has(commit.at) && !commit.damaged && !commit.retired;
    if (isSuspect && (!oldestGood || good.length < 2 || commit.at > oldestGood.at)) kept.add(commit);
  }
  // With fewer than two sound ones, whatever else there is may be somebody's last hope.
  if (wholeKept() < 2) for (const commit of newestFirst) kept.add(commit);
  return {
    keep: newestFirst.filter((commit) => kept.has(commit)),
    drop: newestFirst.filter((commit) => !kept.has(commit)),
  };
}
