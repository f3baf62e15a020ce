import type { HourLedger } from "./simulate/run-job.ts";

/** Where a number came from, to be printed beside every answer. */
export interface Assumption {
  readonly name: string;
  /** As a person would read it: `0.10 per node and hour`. */
  readonly value: string;
  readonly source: string;
  /** `default` was assumed, `table` looked up, `given` by the user, `measured` by journals or history. */
  readonly kind: "default" | "table" | "given" | "measured";
  /** Day the number is from, where it ages. */
  readonly asOf?: string;
}

/** Prices of one node for one hour, in one currency. */
export interface NodePrices {
  readonly currency: string;
  readonly onDemand: number;
  readonly spot: number | undefined;
  readonly flexStart: number | undefined;
}

/** How often one node is preempted. */
export interface Churn {
  /** Per node and running hour. */
  readonly rate: number;
  /** 90 % interval of that rate. */
  readonly low: number;
  readonly high: number;
  /** What stands behind it; undefined for an assumed rate. */
  readonly measured?: { readonly events: number; readonly hours: number } | undefined;
  /** Weibull shape of lifetimes; 1 is memoryless. @default 1 */
  readonly shape?: number | undefined;
}

/** Everything a plan is made from. Hours unless said. */
export interface PlanInputs {
  readonly name: string;
  /** Work on all nodes together, undisturbed. */
  readonly work: number;
  readonly nodes: number;
  readonly prices: NodePrices;
  readonly churn: Churn;
  /** Share of preemptions that take the whole gang at once. */
  readonly shared: number;
  readonly save: number;
  readonly upload: number;
  readonly restart: number;
  /** Mean wait for Spot capacity after a preemption. */
  readonly wait: number;
  /** Mean wait for flex-start capacity; undefined when nobody knows. */
  readonly flexWait: number | undefined;
  /** Chance that a notice comes and the newest state fits into it, and how long that takes. */
  readonly flushChance: number;
  readonly flushTime: number;
  /** A fixed time of work between saves; undefined for the best. */
  readonly interval: number | undefined;
  /** Seconds of one step, to give intervals in steps. */
  readonly stepSeconds: number | undefined;
  readonly deadline: number | undefined;
  /** How sure the deadline must be. */
  readonly confidence: number;
  /** Longest flex-start lease. */
  readonly leaseCap: number;
  /** Cost of moving one checkpoint out of the region, in the prices' currency; 0 when bucket and cluster are together. */
  readonly transferPerSave: number;
  readonly assumptions: readonly Assumption[];
}

/** Kinds of capacity a plan compares. */
export type OptionName = "on-demand" | "flex-start" | "spot" | "hybrid";

/** A value with the band it lies in. */
export interface Band {
  readonly mean: number;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
}

/** A way to run the job that is no way here. */
export interface UnusableOption {
  readonly name: OptionName;
  readonly isUsable: false;
  readonly why: string;
}

/** One way to run the job. */
export interface UsableOption {
  readonly name: OptionName;
  readonly isUsable: true;
  /** Of one node; the hybrid's is Spot's. */
  readonly pricePerHour: number;
  readonly cost: Band;
  /** Hours from now until the job is over. */
  readonly finish: Band;
  readonly billed: Band;
  readonly preemptions: number;
  /** Mean hours by kind; they sum to the mean of `billed`, and with waits to the mean of `finish`. */
  readonly ledger: HourLedger;
  /** Chance to be over by the deadline; undefined without one, or when the waits are not known. */
  readonly onTime: number | undefined;
  readonly notes: readonly string[];
}

export type Option = UsableOption | UnusableOption;

/** When to save. */
export interface IntervalAdvice {
  /** Hours of work between saves that cost least. */
  readonly best: number;
  /** Between these the cost is within 1 % of the least. */
  readonly valley: { readonly low: number; readonly high: number };
  readonly steps: number | undefined;
  /** What the given interval costs more than the best, as a share; undefined when none was given. */
  readonly givenExtra: number | undefined;
  /** Work that one preemption takes on average: half an interval and the upload. */
  readonly lostPerPreemption: number;
}

/** Where Spot stops paying against an alternative. */
export interface BreakEvenAdvice {
  readonly against: "on-demand" | "flex-start";
  /** Gang preemptions per hour at the best interval; undefined: does not pay at any. */
  readonly churn: number | undefined;
  /** The same at the given interval. */
  readonly churnAtGiven: number | undefined;
  /** Nodes in the gang at which its rate gets there, at this node's churn. */
  readonly nodes: number | undefined;
  /** This gang's rate and its 90 % interval. */
  readonly here: { readonly rate: number; readonly low: number; readonly high: number };
}

/** How the cost of the chosen option moves with one input. */
export interface Sensitivity {
  readonly input: string;
  readonly low: { readonly value: string; readonly cost: number };
  readonly high: { readonly value: string; readonly cost: number };
  /** Whether another option is cheaper at one of the ends. */
  readonly flips: boolean;
}

/** The answer. */
export interface Plan {
  readonly name: string;
  readonly options: readonly Option[];
  /** The cheapest that meets the deadline; undefined when none does. */
  readonly choice: OptionName | undefined;
  readonly verdict: string;
  readonly isTooClose: boolean;
  /** How much cheaper than the runner-up, as a share of the runner-up. */
  readonly margin: number | undefined;
  readonly runnerUp: OptionName | undefined;
  readonly interval: IntervalAdvice;
  readonly breakEven: readonly BreakEvenAdvice[];
  readonly sensitivity: readonly Sensitivity[];
  /** What to measure next, and why. */
  readonly measureNext: string | undefined;
  readonly warnings: readonly string[];
  readonly assumptions: readonly Assumption[];
  readonly runs: number;
  readonly seed: number;
}
