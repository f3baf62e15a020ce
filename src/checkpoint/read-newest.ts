import { isOutlastError, OutlastError } from "../core/index.ts";
import type { RunLog } from "./log/run-log.ts";
import { type CommitState, commitAt, type LogState, restorable } from "./log/state.ts";
import type { RunStore } from "./run-store.ts";

/** Whether an error means that stored bytes are missing or wrong, as opposed to a store that cannot be reached. */
export function isDamage(error: unknown): error is OutlastError {
  return isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND", "OUTLAST_CHECKPOINT_DAMAGED", "OUTLAST_MANIFEST_INVALID");
}

/**
 * Runs `act` on the newest commit that is whole, for readers that write nothing to the log. When something of a commit is missing, the log is read
 * again: a commit that was dropped meanwhile is no damage, and the choice is made anew; a live one is passed over for the next.
 */
export async function readNewest<T>(
  run: RunStore,
  log: RunLog,
  options: {
    /** Only commits of this step. */
    readonly step?: number | undefined;
    readonly onDamaged?: (commit: CommitState, error: OutlastError) => void;
  },
  act: (commit: CommitState, state: LogState) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const bad = new Map<number, OutlastError>();
  for (;;) {
    const head = await log.head(signal);
    const wanted = (head ? restorable(head.state) : []).filter(
      (commit) => options.step === undefined || commit.step === options.step,
    );
    const commit = wanted.find((candidate) => !bad.has(candidate.at));
    if (!head || !commit) throw nothingToRead(run, head?.state, options.step, [...bad.values()].at(-1));
    try {
      return await act(commit, head.state);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const state = (await log.head(signal))?.state;
      if (!state || !commitAt(state, commit.at)) continue;
      bad.set(commit.at, error);
      options.onDamaged?.(commit, error);
    }
  }
}

function nothingToRead(
  run: RunStore,
  state: LogState | undefined,
  step: number | undefined,
  cause: OutlastError | undefined,
): OutlastError {
  if (cause || (step === undefined && state && state.committed > 0)) {
    const what =
      step === undefined ? "has checkpoints but none of them verifies" : `has step ${step}, but it is damaged`;
    return new OutlastError(
      "OUTLAST_NO_GOOD_CHECKPOINT",
      `run ${run.run} ${what}${cause ? `: ${cause.message}` : ""}`,
      {
        cause,
        hint: "`outlast checkpoints verify` names what is missing or wrong",
      },
    );
  }
  if (step !== undefined) {
    const steps = state?.commits.map((commit) => commit.step) ?? [];
    return new OutlastError("OUTLAST_CHECKPOINT_UNKNOWN", `run ${run.run} has no checkpoint of step ${step}`, {
      hint: steps.length > 0 ? `it has steps ${steps.join(", ")}` : "it has none yet",
    });
  }
  return new OutlastError("OUTLAST_CHECKPOINT_UNKNOWN", `run ${run.run} has no checkpoint yet`, {
    hint: "see `outlast status`",
  });
}
