import type { Workload } from "../../spec/workload/index.ts";
import { computeClassName, usesPool } from "../names.ts";
import { type Described, why } from "../why.ts";

/** Which nodes a pod may land on. */
export interface Placement {
  readonly nodeSelector: { readonly [key: string]: Described };
  readonly tolerations: readonly Described[];
}

/** Selector and tolerations: the selector is what pins the capacity, a toleration attracts nothing. */
export function placementOf(workload: Workload): Placement {
  const { capacity, accelerator, pool } = workload;
  const gpu: Described[] = accelerator
    ? [
        why("GPU nodes are tainted so that nothing else lands there", {
          key: "nvidia.com/gpu",
          operator: "Exists",
          effect: "NoSchedule",
        }),
      ]
    : [];
  if (capacity.length > 1) {
    return {
      nodeSelector: {
        "cloud.google.com/compute-class": why(
          "the class decides between Spot, flex-start and on-demand; no other capacity selector may stand beside it",
          computeClassName(workload),
        ),
      },
      tolerations: gpu,
    };
  }
  const own = byCapacity(workload);
  return {
    nodeSelector: {
      ...own.nodeSelector,
      ...pool.labels,
      ...(accelerator ? { "cloud.google.com/gke-accelerator": accelerator.type } : {}),
    },
    tolerations: [
      ...own.tolerations,
      ...pool.taints.map(({ key, value, effect }) => ({ key, operator: "Equal", value, effect })),
      ...gpu,
    ],
  };
}

function byCapacity(workload: Workload): Placement {
  const {
    capacity: [capacity],
    cluster,
    flexStart,
    maxRunSeconds,
    pool,
  } = workload;
  const isAutopilot = cluster.mode === "autopilot";
  const named =
    usesPool(workload) && (pool.create || Object.keys(pool.labels).length === 0)
      ? { "cloud.google.com/gke-nodepool": pool.name }
      : {};
  if (capacity === "spot") {
    return {
      nodeSelector: {
        "cloud.google.com/gke-spot": why("pins the pods to Spot: a toleration alone would allow on-demand too", "true"),
        ...(pool.create ? {} : named),
      },
      tolerations: isAutopilot
        ? []
        : [
            why("the pool's taint, which keeps other pods away", {
              key: "cloud.google.com/gke-spot",
              operator: "Equal",
              value: "true",
              effect: "NoSchedule",
            }),
          ],
    };
  }
  if (capacity === "on-demand") return { nodeSelector: named, tolerations: [] };
  if (flexStart.mode !== "plain") {
    return {
      nodeSelector: { "cloud.google.com/gke-nodepool": pool.name },
      tolerations: [
        why("queued nodes are tainted until their request is met", {
          key: "cloud.google.com/gke-queued",
          operator: "Exists",
          effect: "NoSchedule",
        }),
      ],
    };
  }
  const setsDuration = !usesPool(workload) && maxRunSeconds !== undefined;
  return {
    nodeSelector: {
      "cloud.google.com/gke-flex-start": why(
        "asks for flex-start; never beside a Spot selector, which stops every scale-up",
        "true",
      ),
      ...(pool.create ? {} : named),
      ...(setsDuration
        ? {
            "cloud.google.com/gke-max-run-duration-seconds": why(
              "how long the node lives; as an annotation it would do nothing",
              String(maxRunSeconds),
            ),
          }
        : {}),
    },
    tolerations: [],
  };
}
