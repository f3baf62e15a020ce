import type { Workload } from "../spec/workload/index.ts";

/** Labels by which a workload's objects and pods are found. */
export function labelsOf({ name, kind }: Workload): Record<string, string> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "outlast", "outlast.dev/kind": kind };
}

/** What selects a workload's pods and nobody else's. */
export function selectorOf({ name }: Workload): Record<string, string> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "outlast" };
}

/** A PriorityClass is named by its value, so that workloads of the same value share it. */
export function priorityClassName(value: number): string {
  return `outlast-${value < 0 ? "minus" : "plus"}-${Math.abs(value)}`;
}

/** ComputeClasses live outside namespaces. */
export function computeClassName({ name, namespace }: Workload): string {
  return namespace === "default" ? name : `${namespace}-${name}`.slice(0, 63).replace(/-+$/, "");
}

/** The region of a region or zone. */
export function regionOf(location: string): string {
  return location.replace(/-[a-z]$/, "");
}

/** What stands in commands for what the spec does not say. */
export function placeholders({ cluster }: Workload): {
  readonly cluster: string;
  readonly location: string;
  readonly project: string;
} {
  return {
    cluster: cluster.name ?? "CLUSTER",
    location: cluster.location ?? "LOCATION",
    project: cluster.project ?? "PROJECT",
  };
}

/** Whether nodes come from a pool that somebody has to make: Autopilot, auto-provisioning and ComputeClasses make their own. */
export function usesPool({ capacity, cluster, pool }: Workload): boolean {
  if (capacity.length > 1 || cluster.mode === "autopilot") return false;
  return !cluster.autoProvisioning || !pool.create;
}

/** Whether the Job's executable is copied in by an init container. */
export function copiesOutlast({ kind, outlast }: Workload): boolean {
  return kind !== "serve" && outlast.path === undefined;
}
