import { adviseBreakEven } from "./advise/break-even-advice.ts";
import { adviseInterval } from "./advise/interval-advice.ts";
import { compareOptions, type Effort } from "./advise/options.ts";
import { analyseSensitivity, swing } from "./advise/sensitivity.ts";
import { isSure, optionTitle, percent, rank, verdictText } from "./advise/verdict.ts";
import { formatHours, formatMoney } from "./show.ts";
import type { Plan, PlanInputs, Sensitivity, UsableOption } from "./types.ts";

/**
 * Compares capacities for one job and says which to take, how often to save, and when that stops being right.
 *
 * @example
 * const plan = makePlan(inputs, { runs: 20_000, seed: 1 });
 */
export function makePlan(inputs: PlanInputs, effort: Effort): Plan {
  const options = compareOptions(inputs, effort);
  const usable = options.filter((option): option is UsableOption => option.isUsable);
  const ranking = rank(usable, inputs);
  const show = { money: (amount: number) => formatMoney(amount, inputs.prices.currency), hours: formatHours };
  const interval = adviseInterval(inputs);
  const sensitivity = ranking.choice ? analyseSensitivity(inputs, ranking.choice.name) : [];
  return {
    name: inputs.name,
    options,
    choice: ranking.choice?.name,
    verdict: verdictText(ranking, inputs, show),
    isTooClose: ranking.isTooClose,
    margin: ranking.margin,
    runnerUp: ranking.runnerUp?.name,
    interval,
    breakEven: adviseBreakEven(inputs),
    sensitivity,
    measureNext: measureNext(inputs, sensitivity),
    warnings: warnings(inputs, usable, ranking.choice),
    assumptions: inputs.assumptions,
    runs: effort.runs,
    seed: effort.seed,
  };
}

/** The input whose uncertainty moves the answer most, and how to pin it down. */
function measureNext(inputs: PlanInputs, sensitivity: readonly Sensitivity[]): string | undefined {
  const how: Readonly<Record<string, string>> = {
    churn: inputs.churn.measured
      ? `only ${inputs.churn.measured.events} preemptions in ${Math.round(inputs.churn.measured.hours)} node-hours stand behind it; let the journals grow`
      : "it is assumed; run a day under `outlast run` and give --store and --run, or --history",
    "Spot price": "prices move in steps of 5–15 %; read today's with gcloud and give --prices",
    "restart time": "a journal measures it: give --store and --run",
    "stall of a save": "a journal measures it: give --store and --run",
    "upload time": "a journal measures it: give --store and --run",
  };
  const isOpen = ({ input }: Sensitivity) => how[input] !== undefined;
  const candidates = sensitivity.filter(isOpen);
  const next = candidates.find(({ flips }) => flips) ?? candidates.toSorted((a, b) => swing(b) - swing(a))[0];
  if (!next) return undefined;
  const effect = next.flips ? "it can flip the choice" : "it moves the cost most";
  return `${next.input}: ${effect}; ${how[next.input]}`;
}

function warnings(
  inputs: PlanInputs,
  usable: readonly UsableOption[],
  choice: UsableOption | undefined,
): readonly string[] {
  const found: string[] = [];
  for (const option of usable) {
    if (isSure(option, inputs) || (choice && option.cost.mean >= choice.cost.mean)) continue;
    found.push(
      `${optionTitle(option.name)} would cost ${formatMoney(option.cost.mean, inputs.prices.currency)} but meets the deadline with ${percent(option.onTime ?? 0)} only.`,
    );
  }
  const { prices, nodes, shared, churn, deadline } = inputs;
  if (choice?.name === "flex-start" && inputs.flexWait === undefined && deadline !== undefined) {
    found.push(
      `Its queue's wait is not known: to meet the deadline it must start within ${formatHours(deadline - choice.finish.mean)}.`,
    );
  }
  if (prices.spot !== undefined && prices.flexStart !== undefined && prices.flexStart <= prices.spot) {
    found.push(
      "flex-start costs no more than Spot here and is not preempted: Spot pays only where its queue is too slow.",
    );
  }
  if (nodes > 1 && shared > 0) {
    const alone = churn.rate * nodes;
    found.push(
      `A gang of ${nodes} breaks ${Number((churn.rate * (shared + nodes * (1 - shared))).toPrecision(3))} times an hour if ${percent(shared)} of preemptions take all nodes at once; if each node went alone it would be ${Number(alone.toPrecision(3))}.`,
    );
  }
  const spot = usable.find(({ name }) => name === "spot");
  if (spot && spot.preemptions > 6) {
    found.push(
      `About ${Math.round(spot.preemptions)} preemptions: without a podFailurePolicy a Job's default backoffLimit of 6 would fail at the 7th, and the controller's delay doubles from 10 s to 10 min.`,
    );
  }
  return found;
}
