import { gammaQuantile } from "./special.ts";

/** A measured rate: how many events in how many hours. */
export interface Exposure {
  readonly events: number;
  readonly hours: number;
}

/** A rate and the interval it lies in. */
export interface RateEstimate {
  /** Events over hours. */
  readonly plain: number;
  /** Mean of the posterior under Jeffreys' prior: never zero, so that a quiet day does not promise eternity. */
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** A rate with its exact Poisson interval, two-sided; without any event the whole doubt lies above. */
export function estimateRate({ events, hours }: Exposure, confidence = 0.9): RateEstimate {
  const tail = (1 - confidence) / 2;
  return {
    plain: events / hours,
    mean: (events + 0.5) / hours,
    low: events === 0 ? 0 : gammaQuantile(events, tail) / hours,
    high: gammaQuantile(events + 1, 1 - tail) / hours,
  };
}

/** The rate that so many quiet hours leave possible. */
export function upperRate({ events, hours }: Exposure, confidence = 0.95): number {
  return gammaQuantile(events + 1, confidence) / hours;
}

/**
 * A gang's rate from a node's: it breaks when any node does. `shared` is the share of preemptions that take the whole gang at once
 * (0: all alone); measured gangs lie at 0.92 and above, because capacity is taken by the pool.
 */
export function gangRate(nodeRate: number, nodes: number, shared: number): number {
  return nodeRate * (shared + nodes * (1 - shared));
}

/** Chance of no preemption in so many running hours. */
export function quietChance(rate: number, hours: number): number {
  return Math.exp(-rate * hours);
}

/** Chance that capacity comes within the slack, for waits that are memoryless. */
export function startChance(meanWait: number, slack: number): number {
  return -Math.expm1(-slack / meanWait);
}

/** The longest mean wait that still starts within the slack with this chance. */
export function longestMeanWait(slack: number, chance: number): number {
  return slack / -Math.log1p(-chance);
}
