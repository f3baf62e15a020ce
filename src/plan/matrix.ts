import type { OptionName } from "./types.ts";

/** Kinds of work that a capacity is chosen for. */
export type WorkKind =
  | "fault-tolerant batch"
  | "predictable long training"
  | "latency-critical serving"
  | "mixed cluster";

/** One cell of the decision matrix. */
export interface MatrixCell {
  readonly work: WorkKind;
  readonly capacity: OptionName;
  readonly advice: "first choice" | "fits" | "only if" | "do not";
  readonly why: string;
}

/** What each kind of work should run on, and why; the reasons are consequences of how each capacity is taken away. */
export const decisionMatrix: readonly MatrixCell[] = [
  cell(
    "fault-tolerant batch",
    "spot",
    "first choice",
    "an eviction costs the item in hand and nothing else; a queue refills itself",
  ),
  cell(
    "fault-tolerant batch",
    "flex-start",
    "only if",
    "Spot is dearer or gone here, and the job may wait for its start",
  ),
  cell("fault-tolerant batch", "on-demand", "only if", "the deadline is nearer than Spot can promise"),
  cell("fault-tolerant batch", "hybrid", "fits", "Spot first, on-demand when the queue falls behind its deadline"),
  cell(
    "predictable long training",
    "flex-start",
    "first choice",
    "up to seven days without preemption, at a discount, for a wait before the start",
  ),
  cell(
    "predictable long training",
    "spot",
    "fits",
    "if saves are cheap and churn is under the break-even; above it recomputing eats the discount",
  ),
  cell("predictable long training", "on-demand", "only if", "neither the wait nor the churn can be borne"),
  cell("predictable long training", "hybrid", "fits", "keeps a deadline that Spot alone cannot promise"),
  cell(
    "latency-critical serving",
    "on-demand",
    "first choice",
    "users wait for the answer: capacity that leaves on 15 seconds of grace drops requests",
  ),
  cell(
    "latency-critical serving",
    "spot",
    "do not",
    "a preempted replica is gone in seconds, and its replacement may wait for capacity",
  ),
  cell(
    "latency-critical serving",
    "flex-start",
    "do not",
    "starts when capacity comes, ends after seven days at the latest",
  ),
  cell(
    "latency-critical serving",
    "hybrid",
    "only if",
    "on-demand carries the guaranteed load and Spot only what may be shed",
  ),
  cell(
    "mixed cluster",
    "hybrid",
    "first choice",
    "each workload gets what fits its tolerance, by taints, selectors and priorities",
  ),
  cell("mixed cluster", "spot", "only if", "everything in it tolerates eviction"),
  cell("mixed cluster", "flex-start", "only if", "everything in it may wait"),
  cell("mixed cluster", "on-demand", "fits", "always works, at full price; system pods and watchers belong here"),
];

function cell(work: WorkKind, capacity: OptionName, advice: MatrixCell["advice"], why: string): MatrixCell {
  return { work, capacity, advice, why };
}
