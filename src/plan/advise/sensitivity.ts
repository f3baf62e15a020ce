import { splitIntoLeases } from "../model/leases.ts";
import type { OptionName, PlanInputs, Sensitivity } from "../types.ts";
import { segmentsOf, spotCost } from "./spot-job.ts";

/** One input, moved to either end of what is likely. */
interface Move {
  readonly input: string;
  readonly low: PlanInputs;
  readonly high: PlanInputs;
  readonly show: (inputs: PlanInputs) => string;
}

/**
 * How the cost moves when one input at a time does, by the closed forms. An end flips the choice when another option's mean cost is
 * lower there.
 */
export function analyseSensitivity(inputs: PlanInputs, choice: OptionName): readonly Sensitivity[] {
  return moves(inputs)
    .map(({ input, low, high, show }): Sensitivity => {
      const ends = [low, high] as const;
      return {
        input,
        low: { value: show(low), cost: meanCost(low, choice) },
        high: { value: show(high), cost: meanCost(high, choice) },
        flips: ends.some((end) => cheapest(end) !== cheapest(inputs)),
      };
    })
    .sort((a, b) => swing(b) - swing(a));
}

/** How much one input moves the cost. */
export function swing({ low, high }: Sensitivity): number {
  return Math.abs(high.cost - low.cost);
}

/** Mean cost of an option by closed forms; the hybrid's is between its parts and is not analysed this way. */
export function meanCost(inputs: PlanInputs, option: OptionName): number {
  const { prices, nodes, restart, save, upload, work } = inputs;
  if (option === "spot" || option === "hybrid") return spotCost(inputs);
  if (option === "on-demand")
    return (work + restart + save + upload) * nodes * prices.onDemand + inputs.transferPerSave;
  const interval = Math.min(inputs.interval ?? 1, work);
  const lastSave = save + upload;
  const { leases, billed } = splitIntoLeases({ work, cap: inputs.leaseCap, restart, save, interval, lastSave });
  const saves = work / interval + leases;
  const price = prices.flexStart ?? Number.POSITIVE_INFINITY;
  return (billed + upload) * nodes * price + saves * inputs.transferPerSave;
}

function cheapest(inputs: PlanInputs): OptionName {
  const costs = (["on-demand", "flex-start", "spot"] as const).map((name) => [name, meanCost(inputs, name)] as const);
  return costs.reduce((best, next) => (next[1] < best[1] ? next : best))[0];
}

function moves(inputs: PlanInputs): readonly Move[] {
  const { churn, prices } = inputs;
  const minutes = (hours: number) => `${Number((hours * 60).toPrecision(3))} min`;
  const interval = inputs.work / segmentsOf(inputs);
  const scaled = (key: "save" | "upload" | "restart", input: string): Move[] =>
    inputs[key] === 0
      ? []
      : [
          {
            input,
            low: { ...inputs, [key]: inputs[key] / 2 },
            high: { ...inputs, [key]: inputs[key] * 2 },
            show: (at) => minutes(at[key]),
          },
        ];
  const priced: Move[] =
    prices.spot === undefined
      ? []
      : [
          {
            input: "Spot price",
            low: { ...inputs, prices: { ...prices, spot: prices.spot * 0.9 } },
            high: { ...inputs, prices: { ...prices, spot: prices.spot * 1.1 } },
            show: (at) => `${Number((at.prices.spot ?? 0).toPrecision(4))} ${prices.currency}/h`,
          },
        ];
  return [
    {
      input: "churn",
      // An assumed rate may be wrong by a factor of two either way; a measured one says itself how far.
      low: withRate(inputs, churn.measured ? churn.low : churn.rate / 2),
      high: withRate(inputs, churn.measured ? churn.high : churn.rate * 2),
      show: (at) => `${Number(at.churn.rate.toPrecision(3))} per node and hour`,
    },
    ...priced,
    ...scaled("restart", "restart time"),
    ...scaled("save", "stall of a save"),
    ...scaled("upload", "upload time"),
    {
      input: "interval",
      low: { ...inputs, interval: interval / 2 },
      high: { ...inputs, interval: interval * 2 },
      show: (at) => minutes(at.interval ?? 0),
    },
  ];
}

function withRate(inputs: PlanInputs, rate: number): PlanInputs {
  return { ...inputs, churn: { ...inputs.churn, rate } };
}
