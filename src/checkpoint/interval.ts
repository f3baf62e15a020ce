import { bestInterval } from "../plan/index.ts";

/** Which saves lose least: inputs measured over the attempts of a run. */
export interface IntervalInputs {
  /** Milliseconds the program stands still for one save. */
  readonly saveCostMs: number;
  /** Milliseconds from a save until its commit; uploads do not overlap, so an interval below it helps nobody. */
  readonly uploadMs?: number;
  /** Evictions seen so far. */
  readonly evictions: number;
  /** Milliseconds the run has been running, over all attempts. */
  readonly uptimeMs: number;
}

/** Limits of a sensible interval. */
export interface IntervalBounds {
  /** @default 10_000 */
  readonly minMs?: number;
  /** @default 3_600_000 */
  readonly maxMs?: number;
}

/** Time the prior is worth: with half an event (Jeffreys) it expects one eviction in eight hours before anything was seen. */
const priorUptimeMs = 4 * 3_600_000;

/** Evictions per millisecond, by a Jeffreys prior with some hours of weight so that a fresh run does not divide by nothing. */
export function evictionRate(evictions: number, uptimeMs: number, priorMs: number = priorUptimeMs): number {
  return (evictions + 0.5) / (uptimeMs + priorMs);
}

/** Milliseconds between saves, by measured cost and eviction rate, within bounds. */
export function saveInterval(inputs: IntervalInputs, bounds: IntervalBounds = {}): number {
  const { minMs = 10_000, maxMs = 3_600_000 } = bounds;
  const best = bestInterval(inputs.saveCostMs, evictionRate(inputs.evictions, inputs.uptimeMs));
  return Math.min(Math.max(best, minMs, inputs.uploadMs ?? 0), Math.max(maxMs, inputs.uploadMs ?? 0));
}
