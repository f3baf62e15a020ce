import type { KubeObject } from "../source/kube-object.ts";
import type { Node } from "../source/node.ts";
import type { Capacity } from "./pool.ts";

/** One entry of a ComputeClass's priorities. */
export interface ClassRule {
  readonly node: Node;
  /** Undefined when it names node pools instead of a shape. */
  readonly capacity: Capacity | undefined;
  readonly pools: readonly string[];
  readonly shutdownGrace: { readonly total: number; readonly critical: number } | undefined;
  readonly maxRunSeconds: number | undefined;
  readonly hasRecycling: boolean;
}

/** A ComputeClass, read. */
export interface ComputeClass {
  readonly name: string;
  readonly object: KubeObject;
  readonly rules: readonly ClassRule[];
  /** `ScaleUpAnyway` lets pods land on any machine; unset means what the cluster's version says. */
  readonly whenUnsatisfiable: string | undefined;
  /** Where active migration is switched on. */
  readonly migration: Node | undefined;
}

/** Classes that GKE brings. */
export const builtInClasses: readonly string[] = ["Balanced", "Scale-Out", "Performance", "Accelerator"];

/** Reads a ComputeClass object. */
export function readComputeClass(object: KubeObject): ComputeClass {
  const spec = object.node.get("spec");
  const defaults = spec?.get("priorityDefaults");
  const migration = spec?.get("activeMigration", "optimizeRulePriority");
  return {
    name: object.name,
    object,
    rules: (spec?.get("priorities")?.items ?? []).map((node) => readRule(node, defaults)),
    whenUnsatisfiable: spec?.get("whenUnsatisfiable")?.text,
    migration: migration?.isTrue ? migration : undefined,
  };
}

function readRule(node: Node, defaults: Node | undefined): ClassRule {
  const pools = node.get("nodepools")?.strings ?? [];
  const kubelet = node.get("nodeSystemConfig", "kubeletConfig") ?? defaults?.get("nodeSystemConfig", "kubeletConfig");
  const total = kubelet?.get("shutdownGracePeriodSeconds")?.number;
  return {
    node,
    pools,
    capacity:
      pools.length > 0
        ? undefined
        : node.get("spot")?.isTrue
          ? "spot"
          : node.get("flexStart", "enabled")?.isTrue
            ? "flexStart"
            : "onDemand",
    shutdownGrace:
      total === undefined
        ? undefined
        : { total, critical: kubelet?.get("shutdownGracePeriodCriticalPodsSeconds")?.number ?? 15 },
    maxRunSeconds: node.get("maxRunDurationSeconds")?.number,
    hasRecycling: node.get("flexStart", "nodeRecycling") !== undefined,
  };
}
