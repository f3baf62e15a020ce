import { segmentsOf, spotCost, spotModel } from "../advise/spot-job.ts";
import { meanCost } from "../advise/sensitivity.ts";
import { expectJob } from "../model/job.ts";
import type { Plan, PlanInputs, UsableOption } from "../types.ts";
import type { Chart } from "./chart.ts";

const points = 60;

/** Cost on Spot by the time between saves, the flat valley marked. */
export function costByInterval(inputs: PlanInputs, plan: Plan): Chart {
  const best = plan.interval.best;
  const low = Math.max(best / 12, inputs.save, 1 / 3600);
  const high = Math.min(inputs.work, best * 12);
  const curve = spread(low, high).map((hours): readonly [number, number] => {
    const segments = Math.max(1, Math.round(inputs.work / hours));
    return [(inputs.work / segments) * 60, spotCost(inputs, segments)];
  });
  return {
    title: "Cost by time between saves",
    x: { label: "minutes of work between saves", isLog: true },
    y: { label: inputs.prices.currency },
    curves: [{ name: "Spot", points: unique(curve) }],
    band: { from: plan.interval.valley.low * 60, to: plan.interval.valley.high * 60, label: "within 1 %" },
    marks: [
      { x: best * 60, label: "best" },
      ...(inputs.interval === undefined ? [] : [{ x: inputs.interval * 60, label: "yours" }]),
    ],
  };
}

/** Cost by churn, saving at the best interval for each, with where Spot stops paying. */
export function costByChurn(inputs: PlanInputs, plan: Plan): Chart {
  const here = inputs.churn.rate || 0.01;
  const nodeRate = (gang: number) => gang / (inputs.shared + inputs.nodes * (1 - inputs.shared));
  const even = plan.breakEven.flatMap(({ churn, against }) =>
    churn === undefined ? [] : [{ x: nodeRate(churn), label: `= ${against}` }],
  );
  const high = Math.min(Math.max(here * 20, ...even.map(({ x }) => x * 1.5)), here * 400);
  const rates = spread(here / 20, high);
  const spot = rates.map((rate): readonly [number, number] => {
    const at = { ...inputs, interval: undefined, churn: { ...inputs.churn, rate } };
    return [rate, expectJob(spotModel(at), segmentsOf(at)).billed * inputs.nodes * (inputs.prices.spot ?? Number.NaN)];
  });
  const dearest = 2 * meanCost(inputs, "on-demand");
  const level = (name: "on-demand" | "flex-start") => ({
    name,
    points: [rates[0] ?? here, rates.at(-1) ?? here].map((rate): readonly [number, number] => [
      rate,
      meanCost(inputs, name),
    ]),
  });
  return {
    title: "Cost by churn, saving at the best interval",
    x: { label: "preemptions per node and hour", isLog: true },
    y: { label: inputs.prices.currency },
    curves: [
      { name: "Spot", points: spot.filter(([, cost]) => cost <= dearest) },
      level("on-demand"),
      ...(inputs.prices.flexStart === undefined ? [] : [level("flex-start")]),
    ],
    band:
      inputs.churn.high > inputs.churn.low
        ? { from: inputs.churn.low, to: inputs.churn.high, label: "yours" }
        : undefined,
    marks: even,
  };
}

/** The chance to be over by a time, for every usable option. */
export function finishDistribution(inputs: PlanInputs, plan: Plan): Chart {
  const usable = plan.options.filter((option): option is UsableOption => option.isUsable);
  const shares = ["p10", "p50", "p90", "p95"] as const;
  return {
    title: "When it is over",
    x: { label: "hours from now" },
    y: { label: "chance" },
    curves: usable.map(({ name, finish }) => ({
      name,
      points: shares.map((share): readonly [number, number] => [finish[share], Number(share.slice(1)) / 100]),
    })),
    marks: inputs.deadline === undefined ? [] : [{ x: inputs.deadline, label: "deadline" }],
  };
}

/** Values from low to high, evenly spaced in their logarithm. */
function spread(low: number, high: number): number[] {
  const ratio = Math.log(high / low);
  return Array.from({ length: points }, (_, index) => low * Math.exp((ratio * index) / (points - 1)));
}

function unique(curve: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  return curve.filter(([x], index) => index === 0 || x !== curve[index - 1]?.[0]);
}
