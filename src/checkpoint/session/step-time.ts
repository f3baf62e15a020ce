import type { CommitState } from "../log/state.ts";

/** Milliseconds a step takes, by the newest two commits of one gang; undefined when no two tell. */
export function stepTime(commits: readonly CommitState[]): number | undefined {
  for (let at = commits.length - 1; at > 0; at -= 1) {
    const [before, after] = [commits[at - 1], commits[at]];
    if (!before || !after || before.gang !== after.gang || after.step <= before.step) continue;
    const ms = (Date.parse(after.savedAt) - Date.parse(before.savedAt)) / (after.step - before.step);
    if (ms > 0) return ms;
  }
  return undefined;
}
