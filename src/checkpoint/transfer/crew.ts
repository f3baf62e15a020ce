import type { Clock } from "../../core/index.ts";
import type { AdaptiveLimit } from "./adaptive-limit.ts";
import type { Job, Outcome, Setup } from "./jobs.ts";
import type { Lane } from "./lane.ts";

/** What a {@link Crew} is made of. */
export interface CrewOptions {
  readonly lanes: readonly Lane[];
  /** The request's number, by which the lanes know it. */
  readonly id: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How many jobs that use the store may be under way; without one, as many as the lanes take. */
  readonly limit?: AdaptiveLimit | undefined;
}

/** The lanes that work on one request. */
export class Crew {
  readonly #options: CrewOptions;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** Announces the request to all lanes. */
  begin(setup: Setup): void {
    const { lanes, id, limit } = this.#options;
    for (const lane of lanes) lane.begin(id, setup, () => limit?.refused());
  }

  /** Has every lane do this one job. */
  async each(job: Job): Promise<void> {
    const { lanes, id } = this.#options;
    await Promise.all(lanes.map((lane) => lane.run(id, job)));
  }

  /** Has one lane do these jobs in their order. */
  async inOrder(jobs: readonly Job[]): Promise<void> {
    const { lanes, id, signal } = this.#options;
    for (const job of jobs) {
      signal.throwIfAborted();
      await lanes[0]?.run(id, job);
    }
  }

  /**
   * Hands out jobs, each to the lane that has fewest in hand, until all are done. On the first failure or an abort no further job is handed
   * out; it then waits for those under way, so that nothing is written after it has returned.
   */
  all<J extends Job>(jobs: readonly J[], onOutcome: (outcome: Outcome<J>, index: number) => void): Promise<void> {
    const { lanes, id, signal, clock, limit } = this.#options;
    const inHand = new Map(lanes.map((lane) => [lane, 0]));
    let next = 0;
    let running = 0;
    let failure: { readonly error: unknown } | undefined;
    return new Promise((resolve, reject) => {
      const work = async (lane: Lane, index: number): Promise<void> => {
        running += 1;
        inHand.set(lane, (inHand.get(lane) ?? 0) + 1);
        const began = clock.monotonic();
        try {
          const job = jobs[index] as J;
          const outcome = await lane.run(id, job);
          const bytes = wireBytes(job, outcome);
          if (bytes > 0) limit?.finished(bytes, clock.monotonic() - began, running - 1);
          onOutcome(outcome, index);
        } catch (error) {
          failure ??= { error };
        } finally {
          running -= 1;
          inHand.set(lane, (inHand.get(lane) ?? 0) - 1);
          handOut();
        }
      };
      const handOut = (): void => {
        while (!failure && !signal.aborted && next < jobs.length) {
          if (limit && running >= limit.value) break;
          const lane = leastBusy(inHand);
          if (!lane) break;
          void work(lane, next);
          next += 1;
        }
        if (running > 0) return;
        if (signal.aborted) reject(signal.reason as Error);
        else if (failure) reject(failure.error);
        else resolve();
      };
      handOut();
    });
  }
}

function leastBusy(inHand: ReadonlyMap<Lane, number>): Lane | undefined {
  let found: Lane | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const [lane, jobs] of inHand) {
    if (jobs >= lane.depth || jobs >= fewest) continue;
    found = lane;
    fewest = jobs;
  }
  return found;
}

/** Bytes that went between here and the store. */
function wireBytes<J extends Job>(job: J, outcome: Outcome<J>): number {
  if (job.kind === "send") return outcome && "isSent" in outcome && outcome.isSent ? job.size : 0;
  if (job.kind === "fetch") return outcome && "isFetched" in outcome && outcome.isFetched ? job.chunk.size : 0;
  return job.kind === "verify" ? job.chunk.size : 0;
}
