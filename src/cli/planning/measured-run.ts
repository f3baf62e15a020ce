import type { Measurements } from "../../plan/index.ts";
import type { RunStatus } from "../../supervisor/index.ts";

/** What a run's journal says about the capacity it ran on; undefined when it never ran. */
export function measureRun(name: string, status: RunStatus, shards: number): Measurements | undefined {
  const runningHours = status.time.totalMs / 3_600_000;
  if (runningHours <= 0) return undefined;
  // A gang's shards go down together: counting each would count one preemption n times.
  const restarts = status.attempts.filter(({ resumedStep }) => resumedStep !== undefined);
  return {
    preemptions: { events: Math.round(status.evictions / shards), nodeHours: runningHours },
    restartSeconds: samples(restarts.map(({ time }) => time.restoringMs / 1000)),
    uploadSeconds: status.lagMs ? [status.lagMs.median / 1000] : undefined,
    source: `the journal of ${name}`,
  };
}

function samples(values: readonly number[]): readonly number[] | undefined {
  return values.length > 0 ? values : undefined;
}
