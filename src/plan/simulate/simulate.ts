import { randomOf } from "./random.ts";
import { billedHours, type HourLedger, type SimulatedJob, simulateJob, wallHours } from "./run-job.ts";

/** What many runs came to. */
export interface Simulation {
  readonly runs: number;
  /** Runs that would never have ended. */
  readonly endless: number;
  /** Mean hours, by kind. */
  readonly mean: HourLedger;
  readonly preemptions: number;
  /** Billed hours of each run, ascending. */
  readonly billed: Float64Array;
  /** Wall hours of each run, ascending. */
  readonly wall: Float64Array;
}

/** Runs a job `runs` times; the same seed gives the same runs. */
export function simulate(job: SimulatedJob, runs: number, seed: number): Simulation {
  const total = { work: 0, stalls: 0, rework: 0, restarts: 0, flushes: 0, waits: 0 };
  const billed: number[] = [];
  const wall: number[] = [];
  let preemptions = 0;
  for (let run = 0; run < runs; run += 1) {
    const outcome = simulateJob(job, randomOf(seed, run));
    if (!outcome) continue;
    for (const kind of kinds) total[kind] += outcome.ledger[kind];
    preemptions += outcome.preemptions;
    billed.push(billedHours(outcome.ledger));
    wall.push(wallHours(outcome.ledger));
  }
  const ended = Math.max(1, billed.length);
  const mean = Object.fromEntries(kinds.map((kind) => [kind, total[kind] / ended])) as unknown as HourLedger;
  return {
    runs,
    endless: runs - billed.length,
    mean,
    preemptions: preemptions / ended,
    billed: Float64Array.from(billed).sort(),
    wall: Float64Array.from(wall).sort(),
  };
}

/** The value below which a share of ascending samples lies, interpolated. */
export function quantile(ascending: Float64Array, share: number): number {
  if (ascending.length === 0) return Number.POSITIVE_INFINITY;
  const at = share * (ascending.length - 1);
  const low = ascending[Math.floor(at)] as number;
  const high = ascending[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

/** The share of samples at or below a value. */
export function shareWithin(ascending: Float64Array, value: number): number {
  if (ascending.length === 0) return 0;
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low / ascending.length;
}

const kinds = ["work", "stalls", "rework", "restarts", "flushes", "waits"] as const;
