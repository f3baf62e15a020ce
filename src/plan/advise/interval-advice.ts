import { expectJob } from "../model/job.ts";
import type { IntervalAdvice, PlanInputs } from "../types.ts";
import { segmentsOf, spotModel } from "./spot-job.ts";

const valleyShare = 0.01;

/** How often to save, how flat the valley is around it, and what the given interval costs. */
export function adviseInterval(inputs: PlanInputs): IntervalAdvice {
  const model = spotModel(inputs);
  const best = segmentsOf({ ...inputs, interval: undefined }, model);
  const billed = (segments: number) => expectJob(model, segments).billed;
  const least = billed(best);
  const interval = inputs.work / best;
  const given = inputs.interval;
  const used = given ?? interval;
  return {
    best: interval,
    valley: {
      low: inputs.work / edge(best, +1, (segments) => billed(segments) <= least * (1 + valleyShare)),
      high: inputs.work / edge(best, -1, (segments) => billed(segments) <= least * (1 + valleyShare)),
    },
    steps:
      inputs.stepSeconds === undefined ? undefined : Math.max(1, Math.round((interval * 3600) / inputs.stepSeconds)),
    givenExtra: given === undefined ? undefined : billed(segmentsOf(inputs, model)) / least - 1,
    lostPerPreemption: (used + inputs.save) / 2 + inputs.upload,
  };
}

/** The farthest number of segments from `from`, going up or down, that still holds; costs rise on either side of the best. */
function edge(from: number, direction: 1 | -1, holds: (segments: number) => boolean): number {
  const limit = direction === 1 ? from * 4096 : 1;
  let inside = from;
  let outside: number | undefined;
  for (let step = 1; outside === undefined; step *= 2) {
    const next = direction === 1 ? Math.min(limit, inside + step) : Math.max(limit, inside - step);
    if (!holds(next)) outside = next;
    else if (next === limit) return limit;
    else inside = next;
  }
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.trunc((inside + outside) / 2);
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
