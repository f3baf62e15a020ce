import { breakEven, breakEvenAt } from "../model/break-even.ts";
import { gangRate } from "../model/rates.ts";
import type { BreakEvenAdvice, PlanInputs } from "../types.ts";

/** The churn and the gang size at which Spot costs what its rivals do. */
export function adviseBreakEven(inputs: PlanInputs): readonly BreakEvenAdvice[] {
  const { spot, onDemand, flexStart } = inputs.prices;
  if (spot === undefined) return [];
  const rivals: readonly (readonly ["on-demand" | "flex-start", number | undefined])[] = [
    ["on-demand", onDemand],
    ["flex-start", flexStart],
  ];
  return rivals.flatMap(([against, price]) => {
    if (price === undefined) return [];
    const base = { priceRatio: price / spot, restart: inputs.restart, upload: inputs.upload, save: inputs.save };
    const churn = breakEven(base)?.rate;
    return [
      {
        against,
        churn,
        churnAtGiven: inputs.interval === undefined ? undefined : breakEvenAt(inputs.interval, base),
        nodes: churn === undefined ? undefined : nodesAt(churn, inputs),
        here: {
          rate: gangRate(inputs.churn.rate, inputs.nodes, inputs.shared),
          low: gangRate(inputs.churn.low, inputs.nodes, inputs.shared),
          high: gangRate(inputs.churn.high, inputs.nodes, inputs.shared),
        },
      },
    ];
  });
}

/** The largest gang whose rate stays below; undefined when it never gets there. */
function nodesAt(churn: number, { churn: { rate }, shared }: PlanInputs): number | undefined {
  if (rate === 0 || shared >= 1) return undefined;
  const nodes = (churn / rate - shared) / (1 - shared);
  return Math.max(0, Math.floor(nodes));
}
