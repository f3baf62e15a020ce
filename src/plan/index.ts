export { expectOnLifetimes, type LifetimeExpectation } from "./model/any-lifetime.ts";
export {
  type BreakEven,
  type BreakEvenInputs,
  bestCostFactor,
  breakEven,
  breakEvenAt,
  fixedCostFactor,
} from "./model/break-even.ts";
export {
  type Capacity,
  type DeadlineJob,
  type DeadlineOutcome,
  followPolicy,
  greedy,
  greedyFluid,
  type Policy,
  type TickView,
  uniformProgress,
} from "./model/deadline-policy.ts";
export { bestInterval, dalyInterval, youngInterval } from "./model/interval.ts";
export {
  bestSegments,
  dalyTotal,
  type Expectation,
  expectBest,
  expectedFlushSegment,
  expectedSegment,
  expectJob,
  type Flush,
  type JobModel,
} from "./model/job.ts";
export { type LeaseJob, type Leases, splitIntoLeases } from "./model/leases.ts";
export {
  bathtubDeaths,
  cappedLifetime,
  empiricalLifetime,
  exponentialLifetime,
  type Lifetime,
  type Observation,
  weibullLifetime,
  weibullScale,
} from "./model/lifetime.ts";
export { type ItemCost, itemCost, itemCostRoughly } from "./model/queue-items.ts";
export {
  estimateRate,
  type Exposure,
  gangRate,
  longestMeanWait,
  quietChance,
  type RateEstimate,
  startChance,
  upperRate,
} from "./model/rates.ts";
export { makePlan } from "./make-plan.ts";
export { formatHours, formatMoney, formatRate } from "./show.ts";
export type {
  Assumption,
  Band,
  BreakEvenAdvice,
  Churn,
  IntervalAdvice,
  NodePrices,
  Option,
  OptionName,
  Plan,
  PlanInputs,
  Sensitivity,
  UnusableOption,
  UsableOption,
} from "./types.ts";
export { type BuiltInputs, buildInputs, type PlanAsk } from "./inputs/build-inputs.ts";
export { type Measurements, mergeMeasurements } from "./inputs/calibration.ts";
export { readHistory } from "./inputs/read-history.ts";
export { type PriceFile, readPrices } from "./prices/read-prices.ts";
export { optionTitle, percent } from "./advise/verdict.ts";
export { decisionMatrix, type MatrixCell, type WorkKind } from "./matrix.ts";
export { findPrice, type PriceQuery } from "./prices/find-price.ts";
export { planPage } from "./render/html.ts";
