import { bestInterval } from "./interval.ts";

/** A job and what its capacity does to it. Hours, and preemptions per running hour. */
export interface JobModel {
  /** Work to be done, in hours of undisturbed running. */
  readonly work: number;
  /** The program stands still this long for one save. */
  readonly save: number;
  /** From the end of that stall until the save is safe elsewhere; 0 when saving blocks. @default 0 */
  readonly upload?: number;
  /** Boot, pull, restore: paid for, and can itself be interrupted. */
  readonly restart: number;
  /** Until there is capacity again: not paid for. */
  readonly wait: number;
  /** Preemptions of the whole gang per running hour. */
  readonly rate: number;
}

/** What a job is expected to take. */
export interface Expectation {
  readonly segments: number;
  /** Work between two saves. */
  readonly interval: number;
  readonly wall: number;
  readonly billed: number;
  readonly preemptions: number;
}

/** A save that costs nothing would be made all the time; none costs less than a second. */
const leastSave = 1 / 3600;

/** Past this, exp() is no longer a number of hours anybody could live through. */
const hopeless = 700;

/**
 * Expected time of one segment of `work` that must be finished in one go and then saved (Bougeret et al. 2011), the first start
 * not counted: exp(rate*restart) * (1/rate + wait) * (exp(rate*(work + save)) - 1).
 */
export function expectedSegment({ work, save, restart, wait, rate }: Omit<JobModel, "upload">): number {
  if (rate === 0) return work + save;
  return Math.exp(rate * restart) * (1 / rate + wait) * Math.expm1(rate * (work + save));
}

/** Daly's total for a whole job, saves every `interval`. */
export function dalyTotal({ work, save, restart, rate }: Omit<JobModel, "wait">, interval: number): number {
  return (Math.exp(rate * restart) / rate) * Math.expm1(rate * (interval + save)) * (work / interval);
}

/**
 * The whole job in `segments` equal parts, its first start included. An upload that goes on beside the work acts exactly like
 * extra restart time: what was saved but not yet safe is done again.
 */
export function expectJob(job: JobModel, segments: number): Expectation {
  const { work, save, upload = 0, restart, wait, rate } = job;
  const interval = work / segments;
  const period = interval + save;
  if (rate === 0) {
    const wall = restart + segments * period + upload;
    return { segments, interval, wall, billed: wall, preemptions: 0 };
  }
  const first = rate * (restart + period + upload);
  if (first > hopeless) {
    return {
      segments,
      interval,
      wall: Number.POSITIVE_INFINITY,
      billed: Number.POSITIVE_INFINITY,
      preemptions: Number.POSITIVE_INFINITY,
    };
  }
  const preemptions =
    Math.expm1(first) + (segments - 1) * Math.exp(rate * (restart + upload)) * Math.expm1(rate * period);
  return { segments, interval, wall: preemptions * (1 / rate + wait), billed: preemptions / rate, preemptions };
}

/** The number of segments that loses least: the better neighbour of work over the best interval, at least one. */
export function bestSegments(job: JobModel): { readonly segments: number; readonly exact: number } {
  if (job.rate === 0 || job.work === 0) return { segments: 1, exact: 1 };
  const exact = job.work / bestInterval(Math.max(job.save, leastSave), job.rate);
  const low = Math.max(1, Math.floor(exact));
  const high = Math.max(1, Math.ceil(exact));
  const isLow = expectJob(job, low).billed <= expectJob(job, high).billed;
  return { segments: isLow ? low : high, exact };
}

/** A job at its best interval. */
export function expectBest(job: JobModel): Expectation {
  return expectJob(job, bestSegments(job).segments);
}

/** What a notice is good for. */
export interface Flush {
  /** Chance that the notice comes and the flush fits into it. */
  readonly chance: number;
  /** Time the flush takes. */
  readonly time: number;
}

/** Expected time of a segment when a notice lets the newest state be saved with some chance. */
export function expectedFlushSegment(segment: Omit<JobModel, "upload">, flush: Flush): number {
  const { work, save, restart, wait, rate } = segment;
  const period = work + save;
  if (rate === 0) return period;
  const again = wait + flush.chance * flush.time + (1 / rate + wait) * Math.expm1(rate * restart);
  if (flush.chance === 0) return (1 / rate + again) * Math.expm1(rate * period);
  return ((1 / rate + again) / flush.chance) * Math.log1p(flush.chance * Math.expm1(rate * period));
}
