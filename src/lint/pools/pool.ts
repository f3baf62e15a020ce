import type { Span } from "../source/source-file.ts";

/** A taint in Kubernetes' own spelling. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** How nodes are paid for and taken away. */
export type Capacity = "spot" | "flexStart" | "onDemand";

export const capacities: readonly Capacity[] = ["spot", "flexStart", "onDemand"];

/** A node pool, from wherever it was declared. What is not known is undefined. */
export interface Pool {
  readonly name: string | undefined;
  readonly capacity: Capacity | undefined;
  /** Preemptible rather than Spot. */
  readonly isPreemptible: boolean;
  /** Needs a ProvisioningRequest. */
  readonly isQueued: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** False when a label or taint stands there that could not be read. */
  readonly hasAllLabels: boolean;
  readonly machineType: string | undefined;
  readonly accelerator: { readonly type: string; readonly count: number | undefined } | undefined;
  readonly tpuTopology: string | undefined;
  /** Nodes that are there from the start, when they are more than none. */
  readonly staticNodes: number | undefined;
  readonly minNodes: number | undefined;
  readonly maxNodes: number | undefined;
  readonly hasAutoscaling: boolean | undefined;
  readonly hasAutoRepair: boolean | undefined;
  readonly usesReservation: boolean | undefined;
  readonly maxRunSeconds: number | undefined;
  /** The kubelet's shutdown window and the critical pods' part of it; `unknown` when set by a file we do not see. */
  readonly shutdownGrace: { readonly total: number; readonly critical: number } | "unknown" | undefined;
  readonly source: "gcloud" | "terraform" | "list" | "pools.yaml";
  readonly span: Span;
}

/** A pool of which nothing but its place is known. */
export function emptyPool(source: Pool["source"], span: Span): Pool {
  return {
    name: undefined,
    capacity: "onDemand",
    isPreemptible: false,
    isQueued: false,
    labels: {},
    taints: [],
    hasAllLabels: true,
    machineType: undefined,
    accelerator: undefined,
    tpuTopology: undefined,
    staticNodes: undefined,
    minNodes: undefined,
    maxNodes: undefined,
    hasAutoscaling: undefined,
    hasAutoRepair: undefined,
    usesReservation: undefined,
    maxRunSeconds: undefined,
    shutdownGrace: undefined,
    source,
    span,
  };
}

/** `86400s`, `24h`, `86400`: seconds, or undefined. */
export function seconds(text: string | undefined): number | undefined {
  const found = /^(\d+)(s|m|h|d)?$/.exec(text?.trim() ?? "");
  if (!found) return undefined;
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[found[2] ?? "s"] ?? 1;
  return Number(found[1]) * unit;
}

/** Terraform and the API spell effects in capitals. */
export function kubeEffect(effect: string): string {
  const known: Record<string, string> = {
    NO_SCHEDULE: "NoSchedule",
    PREFER_NO_SCHEDULE: "PreferNoSchedule",
    NO_EXECUTE: "NoExecute",
  };
  return known[effect] ?? effect;
}
