import type { Job, Outcome } from "./jobs.ts";
import type { Lane } from "./lane.ts";

/**
 * Hands jobs to lanes, each as many as it wants in hand, until all are done. On the first failure or an abort no further job
 * is handed out; it then waits for those under way, so that nothing is written after it has returned.
 */
export async function dispatch<J extends Job>(
  lanes: readonly Lane[],
  id: number,
  jobs: readonly J[],
  signal: AbortSignal,
  onOutcome: (outcome: Outcome<J>, index: number) => void,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const work = async (lane: Lane): Promise<void> => {
    while (!failure && next < jobs.length) {
      if (signal.aborted) throw signal.reason;
      const index = next;
      next += 1;
      onOutcome(await lane.run(id, jobs[index] as J), index);
    }
  };
  const hands = lanes.flatMap((lane) => Array.from({ length: lane.depth }, () => lane));
  await Promise.all(
    hands.map((lane) =>
      work(lane).catch((error: unknown) => {
        failure ??= { error };
      }),
    ),
  );
  if (signal.aborted) throw signal.reason;
  if (failure) throw failure.error;
}
