import { estimateRate } from "../model/rates.ts";
import type { Churn } from "../types.ts";

/** What journals, watch history or an import have measured; the import format of `--history`. */
export interface Measurements {
  /** Preemptions seen in so many node-hours of running. */
  readonly preemptions?: { readonly events: number; readonly nodeHours: number } | undefined;
  /** Samples in seconds, oldest first. */
  readonly saveSeconds?: readonly number[] | undefined;
  readonly uploadSeconds?: readonly number[] | undefined;
  readonly restartSeconds?: readonly number[] | undefined;
  /** From asking for Spot capacity to running. */
  readonly waitSeconds?: readonly number[] | undefined;
  /** From asking for flex-start capacity to running. */
  readonly flexWaitSeconds?: readonly number[] | undefined;
  /** Where it came from, for people. */
  readonly source: string;
}

/** Adds up measurements of several places. */
export function mergeMeasurements(all: readonly Measurements[]): Measurements | undefined {
  if (all.length === 0) return undefined;
  const samples = (key: "saveSeconds" | "uploadSeconds" | "restartSeconds" | "waitSeconds" | "flexWaitSeconds") => {
    const joined = all.flatMap((one) => one[key] ?? []);
    return joined.length > 0 ? joined : undefined;
  };
  const counted = all.flatMap((one) => one.preemptions ?? []);
  return {
    preemptions:
      counted.length === 0
        ? undefined
        : {
            events: counted.reduce((sum, { events }) => sum + events, 0),
            nodeHours: counted.reduce((sum, { nodeHours }) => sum + nodeHours, 0),
          },
    saveSeconds: samples("saveSeconds"),
    uploadSeconds: samples("uploadSeconds"),
    restartSeconds: samples("restartSeconds"),
    waitSeconds: samples("waitSeconds"),
    flexWaitSeconds: samples("flexWaitSeconds"),
    source: all.map(({ source }) => source).join(", "),
  };
}

/** A churn from counted preemptions, with its 90 % interval. */
export function measuredChurn(events: number, nodeHours: number): Churn {
  const { mean, low, high } = estimateRate({ events, hours: nodeHours });
  return { rate: mean, low, high, measured: { events, hours: nodeHours } };
}

/** The middle of samples; undefined when there are none. */
export function median(samples: readonly number[] | undefined): number | undefined {
  if (!samples || samples.length === 0) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
