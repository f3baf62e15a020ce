import type { Deadline } from "../core/index.ts";

/** Out at least this long before the deadline, always. */
const exitReserveMs = 1000;
/** What the child must leave for committing, besides the predicted upload. */
const commitReserveMs = 2000;
/** Between the end of each step of the way out and the next, for timers that fire late. */
const stepReserveMs = 100;

/** How a stop's time is divided. All times are milliseconds from the notice. */
export interface StopBudget {
  /** The child's SIGKILL. */
  readonly killMs: number;
  /** What has not been shipped by then is left behind. */
  readonly shipMs: number;
  /** The supervisor stops waiting for anything. */
  readonly lastCallMs: number;
  /** The process is ended even if it hangs. */
  readonly overdueMs: number;
}

/**
 * Divides the grace: SIGKILL at deadline − 2 s − predicted upload but not before half the grace, out one second before the deadline.
 * A grace too short for these reserves (under 2.5 s) keeps two fifths of it instead of a second.
 */
export function divideGrace(graceMs: number, predictedFlushMs: number): StopBudget {
  const reserve = graceMs >= 2.5 * exitReserveMs ? exitReserveMs : graceMs * 0.4;
  const step = Math.min(stepReserveMs, reserve / 8);
  const overdueMs = graceMs - reserve - step / 2;
  const lastCallMs = overdueMs - step;
  const shipMs = lastCallMs - step;
  const killMs = Math.max(graceMs - commitReserveMs - predictedFlushMs, graceMs / 2);
  return { killMs: Math.max(0, Math.min(killMs, shipMs - step)), shipMs, lastCallMs, overdueMs };
}

/** One stop under way: its budget against the clock. */
export class StopTimes {
  readonly #graceMs: number;
  readonly #deadline: Deadline;

  constructor(deadline: Deadline) {
    this.#deadline = deadline;
    this.#graceMs = deadline.remainingMs();
  }

  /** Milliseconds until the child's SIGKILL, given what would still have to be uploaded. */
  untilKillMs(predictedFlushMs: number): number {
    return this.#until(divideGrace(this.#graceMs, predictedFlushMs).killMs);
  }

  untilLastCallMs(): number {
    return this.#until(divideGrace(this.#graceMs, 0).lastCallMs);
  }

  untilOverdueMs(): number {
    return this.#until(divideGrace(this.#graceMs, 0).overdueMs);
  }

  /** By when everything that is to be committed must be. */
  get shipDeadline(): Deadline {
    return this.#deadline.minus(this.#graceMs - divideGrace(this.#graceMs, 0).shipMs);
  }

  #until(atMs: number): number {
    return Math.max(0, this.#deadline.minus(this.#graceMs - atMs).remainingMs());
  }
}
