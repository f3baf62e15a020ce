import { type Clock, isOutlastError } from "../core/index.ts";
import type { RunLog } from "./log/run-log.ts";
import { isFinished, type LogState } from "./log/state.ts";
import type { RunStore } from "./run-store.ts";
import { requireTenure, type Tenure } from "./tenure.ts";

/**
 * Records that this shard's program finished and waits until all shards have. Nobody leaves before: a shard that is killed just before its own
 * end starts anew, and the others have to go back with it.
 */
export async function finishShard(
  run: RunStore,
  log: RunLog,
  tenure: Tenure,
  options: {
    readonly clock: Clock;
    /** How often to look for the other shards. @default 1000 */
    readonly pollMs?: number;
  },
  signal?: AbortSignal,
): Promise<"all-done" | "gang-ended" | "superseded"> {
  const { clock, pollMs = 1000 } = options;
  try {
    const outcome = await log.append<LogState>((head) => {
      if (head && isFinished(head.state)) return { result: head.state };
      const state = requireTenure(head, run.run, tenure);
      if (state.done.includes(tenure.shard)) return { result: state };
      return { append: { kind: "done", epoch: tenure.epoch, gang: tenure.gang } };
    }, signal);
    let state = "appended" in outcome ? outcome.appended.state : outcome.result;
    while (!isFinished(state)) {
      await clock.sleep(pollMs, signal);
      signal?.throwIfAborted();
      const head = await log.head(signal);
      state = head && isFinished(head.state) ? head.state : requireTenure(head, run.run, tenure);
    }
    return "all-done";
  } catch (error) {
    if (isOutlastError(error, "OUTLAST_SUPERSEDED")) return "superseded";
    if (isOutlastError(error, "OUTLAST_GANG_ENDED")) return "gang-ended";
    throw error;
  }
}
