import type { Flush, JobModel } from "../model/job.ts";
import type { Lifetime } from "../model/lifetime.ts";
import type { Random } from "./random.ts";

/** Where the hours of a run went; the first five are billed, and all six are the wall clock. */
export interface HourLedger {
  readonly work: number;
  /** Standing still for saves. */
  readonly stalls: number;
  /** Done, lost and done again. */
  readonly rework: number;
  /** Boot, pull, restore. */
  readonly restarts: number;
  /** Saving on notice, and waiting for the last upload. */
  readonly flushes: number;
  readonly waits: number;
}

/** One run. */
export interface SimulatedRun {
  readonly ledger: HourLedger;
  readonly preemptions: number;
}

/** How a simulated job behaves. */
export interface SimulatedJob extends Omit<JobModel, "rate"> {
  readonly segments: number;
  readonly lifetime: Lifetime;
  /** What a notice is good for. @default never seen */
  readonly flush?: Flush;
  /** Waits for capacity drawn anew each time. @default always `wait` */
  readonly drawWait?: (random: Random) => number;
  /** Machines tried before a run counts as one that never ends. @default 100_000 */
  readonly patience?: number;
}

/** Hours billed by a ledger, summed in one fixed order so that every table agrees to the last digit. */
export function billedHours(ledger: HourLedger): number {
  return ledger.work + ledger.stalls + ledger.rework + ledger.restarts + ledger.flushes;
}

/** Hours on the wall clock. */
export function wallHours(ledger: HourLedger): number {
  return billedHours(ledger) + ledger.waits;
}

/**
 * Runs a job machine by machine. A machine restores, works in periods of interval + save, and a save is safe one upload later;
 * what was not safe when the machine dies is done again by the next one.
 */
export function simulateJob(job: SimulatedJob, random: Random): SimulatedRun | undefined {
  const { work, save, upload = 0, restart, wait, segments, lifetime, patience = 100_000 } = job;
  const interval = work / segments;
  const period = interval + save;
  let stalls = 0;
  let rework = 0;
  let restarts = 0;
  let flushes = 0;
  let waits = 0;
  let preemptions = 0;
  /** Periods safe so far; a fraction after a flush in the middle of one. */
  let safe = 0;
  while (preemptions <= patience) {
    const left = segments - safe;
    const life = lifetime.draw(random.next());
    const needed = restart + left * period + upload;
    if (life >= needed) {
      restarts += restart;
      stalls += left * save;
      flushes += upload;
      return { ledger: { work, stalls, rework, restarts, flushes, waits }, preemptions };
    }
    preemptions += 1;
    waits += job.drawWait ? job.drawWait(random) : wait;
    restarts += Math.min(life, restart);
    const ran = Math.max(0, life - restart);
    const isFlushed = job.flush !== undefined && ran > 0 && random.next() < job.flush.chance;
    // Saves fall on whole periods since the beginning of the job, so a flush in between does not move them.
    const reached = isFlushed ? Math.min(segments, safe + ran / period) : savedBy(safe, (ran - upload) / period);
    const gained = Math.min(reached, segments) - safe;
    stalls += gained * save;
    rework += ran - gained * period;
    if (isFlushed) flushes += job.flush.time;
    safe += gained;
  }
  return undefined;
}

/** Periods safe after `periods` more of running: the last whole one, or what was safe before. */
function savedBy(safe: number, periods: number): number {
  return periods <= 0 ? safe : Math.max(safe, Math.floor(safe + periods + 1e-12));
}
