import { bestSegments, expectJob, type JobModel } from "../model/job.ts";
import { gangRate } from "../model/rates.ts";
import type { PlanInputs } from "../types.ts";

/** The job as the formulas see it on Spot, at a node's churn (by default the estimated one). */
export function spotModel(inputs: PlanInputs, nodeRate: number = inputs.churn.rate): JobModel {
  return {
    work: inputs.work,
    save: inputs.save,
    upload: inputs.upload,
    restart: inputs.restart,
    wait: inputs.wait,
    rate: gangRate(nodeRate, inputs.nodes, inputs.shared),
  };
}

/** Segments the job is cut into: by the given interval, else the best, but never finer than an upload takes. */
export function segmentsOf(inputs: PlanInputs, model: JobModel = spotModel(inputs)): number {
  if (inputs.interval !== undefined) return Math.max(1, Math.round(inputs.work / inputs.interval));
  const best = bestSegments(model).segments;
  // One upload at a time: a period shorter than the upload would only queue saves.
  const finest =
    inputs.upload > inputs.save ? Math.max(1, Math.floor(inputs.work / (inputs.upload - inputs.save))) : best;
  return Math.min(best, finest);
}

/** Mean cost on Spot by the closed form: quick enough to be asked for every point of a chart. */
export function spotCost(inputs: PlanInputs, segments: number = segmentsOf(inputs)): number {
  const { billed, preemptions } = expectJob(spotModel(inputs), segments);
  const saves = segments + preemptions;
  return billed * inputs.nodes * (inputs.prices.spot ?? Number.POSITIVE_INFINITY) + saves * inputs.transferPerSave;
}
