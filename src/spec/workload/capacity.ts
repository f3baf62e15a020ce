import type { RawWorkload } from "./raw.ts";
import type { Capacity, Tolerance } from "./types.ts";

/** A capacity, and why it was chosen. */
export interface ChosenCapacity {
  readonly capacity: readonly [Capacity, ...Capacity[]];
  readonly tolerance: Tolerance;
  readonly reason: string;
}

const byTolerance: Readonly<Record<Tolerance, { readonly capacity: Capacity; readonly why: string }>> = {
  critical: { capacity: "on-demand", why: "critical work must not be interrupted by the capacity it runs on" },
  scheduled: {
    capacity: "flex-start",
    why: "scheduled work can wait for its start, and is then left alone until its node ends",
  },
  tolerant: { capacity: "spot", why: "tolerant work resumes after a preemption, so it takes the cheapest capacity" },
};

/** The capacity that was named, or the one that fits the workload's tolerance. */
export function chooseCapacity(raw: RawWorkload): ChosenCapacity {
  const tolerance = raw.tolerance ?? (raw.kind === "serve" ? "critical" : "tolerant");
  const [first, ...rest] = [raw.capacity ?? []].flat();
  if (first !== undefined) return { capacity: [first, ...rest], tolerance, reason: "named by `capacity`" };
  const { capacity, why } = byTolerance[tolerance];
  const from = raw.tolerance ? `tolerance: ${tolerance}` : `kind: ${raw.kind}`;
  return { capacity: [capacity], tolerance, reason: `${from}: ${why}` };
}
