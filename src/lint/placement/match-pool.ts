import { keys, systemLabels } from "../facts/keys.ts";
import { gpusOfMachine } from "../facts/machines.ts";
import type { Pool, Taint } from "../pools/pool.ts";
import type { Supply } from "../pools/supply.ts";
import { type Constraints, isToleratedByItself, type Requirement, tolerates } from "./constraints.ts";
import { type PodTemplate, requested } from "./pod-template.ts";

/** What keeps a pod off a pool. */
export type Obstacle =
  | { readonly kind: "label"; readonly requirement: Requirement; readonly has: string | undefined }
  | { readonly kind: "taint"; readonly taint: Taint; readonly isDeclared: boolean }
  | { readonly kind: "size"; readonly wanted: number; readonly perNode: number };

/** Whether a pod fits a pool, and what is in the way. */
export interface PoolMatch {
  readonly pool: Pool;
  readonly fit: "yes" | "maybe" | "no";
  readonly obstacles: readonly Obstacle[];
}

/** Holds a pod's demands against one pool. */
export function matchPool(pool: Pool, constraints: Constraints, template: PodTemplate, supply: Supply): PoolMatch {
  let best: { fit: PoolMatch["fit"]; obstacles: Obstacle[] } = { fit: "no", obstacles: [] };
  for (const [i, requirements] of constraints.alternatives.entries()) {
    const one = matchLabels(pool, requirements);
    if (i === 0 || rank(one.fit) > rank(best.fit)) best = one;
  }
  const obstacles = [
    ...best.obstacles,
    ...taintObstacles(pool, constraints, template, supply),
    ...sizeObstacles(pool, template),
  ];
  // A pool whose name could not be read has other settings that could not be read either.
  const isUnsure = best.fit === "maybe" || !pool.hasAllLabels || pool.name === undefined;
  return { pool, obstacles, fit: obstacles.length > 0 ? "no" : isUnsure ? "maybe" : "yes" };
}

function rank(fit: PoolMatch["fit"]): number {
  return { no: 0, maybe: 1, yes: 2 }[fit];
}

function matchLabels(
  pool: Pool,
  requirements: readonly Requirement[],
): { fit: PoolMatch["fit"]; obstacles: Obstacle[] } {
  const obstacles: Obstacle[] = [];
  let isUnsure = false;
  for (const requirement of requirements) {
    const has = labelOf(pool, requirement.key);
    const holds = satisfies(requirement, has);
    if (holds === undefined) isUnsure = true;
    else if (!holds) obstacles.push({ kind: "label", requirement, has: has ?? undefined });
  }
  return { fit: obstacles.length > 0 ? "no" : isUnsure ? "maybe" : "yes", obstacles };
}

/** A node's label: its value, null when it is surely absent, undefined when nobody can say. */
export function labelOf(pool: Pool, key: string): string | null | undefined {
  const declared = pool.labels[key];
  if (declared !== undefined) return declared;
  const { capacity, machineType } = pool;
  switch (key) {
    case keys.nodePool:
      return pool.name;
    case keys.spot:
      return capacity === undefined ? undefined : capacity === "spot" && !pool.isPreemptible ? "true" : null;
    case keys.preemptible:
      return capacity === undefined ? undefined : pool.isPreemptible ? "true" : null;
    case keys.flexStart:
      return capacity === undefined ? undefined : capacity === "flexStart" ? "true" : null;
    case keys.provisioning:
      if (capacity === undefined) return undefined;
      return capacity === "spot"
        ? pool.isPreemptible
          ? "preemptible"
          : "spot"
        : capacity === "flexStart"
          ? "flex-start"
          : "standard";
    case keys.accelerator:
      return acceleratorOf(pool)?.type ?? (machineType ? null : undefined);
    case keys.tpuAccelerator:
      return machineType && !/^(?:ct|tpu)/.test(machineType) ? null : undefined;
    case keys.instanceType:
      return machineType;
    case keys.machineFamily:
      return machineType?.split("-")[0];
    case keys.computeClass:
      return pool.hasAllLabels ? null : undefined;
    default:
      if (systemLabels.includes(key)) return undefined;
      return pool.hasAllLabels ? null : undefined;
  }
}

/** The GPUs of a pool's nodes, from what it declares or from its machine type. */
export function acceleratorOf(pool: Pool): Pool["accelerator"] {
  return pool.accelerator ?? (pool.machineType ? gpusOfMachine(pool.machineType) : undefined);
}

function satisfies({ operator, values }: Requirement, has: string | null | undefined): boolean | undefined {
  if (has === undefined) return undefined;
  switch (operator) {
    case "In":
      return has !== null && values.includes(has);
    case "NotIn":
      return has === null || !values.includes(has);
    case "Exists":
      return has !== null;
    case "DoesNotExist":
      return has === null;
    default:
      return undefined;
  }
}

/** Taints a pool has besides those it declares. */
function impliedTaints(pool: Pool, supply: Supply): Taint[] {
  const taints: Taint[] = [];
  if (pool.isQueued) taints.push({ key: keys.queued, value: "true", effect: "NoSchedule" });
  // GPU nodes are tainted once the cluster has nodes without GPUs.
  const hasOthers = supply.pools.some((one) => one.machineType !== undefined && !acceleratorOf(one));
  if (acceleratorOf(pool) && hasOthers) taints.push({ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" });
  if (/^(?:ct|tpu)/.test(pool.machineType ?? ""))
    taints.push({ key: "google.com/tpu", value: "present", effect: "NoSchedule" });
  return taints.filter((taint) => !pool.taints.some(({ key }) => key === taint.key));
}

function taintObstacles(pool: Pool, { tolerations }: Constraints, template: PodTemplate, supply: Supply): Obstacle[] {
  const all = [
    ...pool.taints.map((taint) => ({ taint, isDeclared: true })),
    ...impliedTaints(pool, supply).map((taint) => ({ taint, isDeclared: false })),
  ];
  return all
    .filter(({ taint }) => !isToleratedByItself(taint, template, supply.isAutopilot))
    .filter(({ taint }) => !tolerations.some((one) => tolerates(one, taint)))
    .map((one) => ({ kind: "taint" as const, ...one }));
}

function sizeObstacles(pool: Pool, template: PodTemplate): Obstacle[] {
  const wanted = requested(template, "nvidia.com/gpu");
  if (wanted === 0 || (!pool.machineType && !pool.accelerator)) return [];
  const own = acceleratorOf(pool);
  const perNode = own ? own.count : 0;
  if (perNode === undefined || wanted <= perNode) return [];
  return [{ kind: "size", wanted, perNode }];
}
