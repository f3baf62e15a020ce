import { bestInterval } from "./interval.ts";
import { bisect } from "./special.ts";

/** What decides when preemptions eat a discount. Hours. */
export interface BreakEvenInputs {
  /** Price of the alternative over the price of Spot. */
  readonly priceRatio: number;
  readonly restart: number;
  readonly upload: number;
  readonly save: number;
}

/** Where Spot stops paying. */
export interface BreakEven {
  /** Preemptions per running hour. */
  readonly rate: number;
  /** The best interval there. */
  readonly interval: number;
}

/** How many hours are billed for an hour of work, saving at the best interval: exp(rate * (restart + upload + save + interval)). */
export function bestCostFactor(rate: number, job: Omit<BreakEvenInputs, "priceRatio">): number {
  if (rate === 0) return 1;
  return Math.exp(rate * (job.restart + job.upload + job.save + bestInterval(job.save, rate)));
}

/** The same with a fixed interval. */
export function fixedCostFactor(rate: number, interval: number, job: Omit<BreakEvenInputs, "priceRatio">): number {
  const period = interval + job.save;
  if (rate === 0) return period / interval;
  return (Math.exp(rate * (job.restart + job.upload)) * Math.expm1(rate * period)) / (rate * interval);
}

/** The rate at which Spot, saving at its best, costs what the alternative does; undefined when it does not pay at any. */
export function breakEven(inputs: BreakEvenInputs): BreakEven | undefined {
  const rate = rootOf((x) => bestCostFactor(x, inputs) - inputs.priceRatio);
  return rate === undefined ? undefined : { rate, interval: bestInterval(inputs.save, rate) };
}

/** The same for an interval that is what it is. */
export function breakEvenAt(interval: number, inputs: BreakEvenInputs): number | undefined {
  return rootOf((x) => fixedCostFactor(x, interval, inputs) - inputs.priceRatio);
}

/** The positive root of a rising function; undefined when it begins above zero or never gets there. */
function rootOf(f: (x: number) => number): number | undefined {
  if (f(0) >= 0) return undefined;
  let high = 1e-3;
  while (f(high) < 0) {
    high *= 2;
    if (high > 1e9) return undefined;
  }
  return bisect(f, 0, high);
}
