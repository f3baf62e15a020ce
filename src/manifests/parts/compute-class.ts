import type { Capacity, Workload } from "../../spec/workload/index.ts";
import { computeClassName } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { type Described, why } from "../why.ts";

/** How long before a flex-start node's end its replacement is brought. */
const leadSeconds = 900;
const longestFlexSeconds = 604_800;

/** Ordered fallback: the first capacity that can be had. */
export function computeClass(workload: Workload): ManifestObject {
  return manifestObject(
    "cloud.google.com/v1",
    "ComputeClass",
    { name: computeClassName(workload) },
    `Capacity in order of preference: ${workload.capacity.join(", then ")}.`,
    {
      spec: {
        nodePoolAutoCreation: { enabled: why("GKE makes the pools", true) },
        whenUnsatisfiable: why("wait for one of these, take nothing else", "DoNotScaleUp"),
        // No activeMigration: it moves running pods to a better rule, which for a long job is an eviction.
        priorities: workload.capacity.map((capacity) => rule(capacity, workload)),
      },
    },
  );
}

function rule(capacity: Capacity, { machine, accelerator, maxRunSeconds, pool }: Workload): Described {
  const node = {
    machineType: machine,
    gpu: accelerator ? { type: accelerator.type, count: accelerator.nodeCount, driverVersion: "latest" } : undefined,
    location: pool.zones.length > 0 ? { zones: pool.zones } : undefined,
  };
  if (capacity === "flex-start") {
    const life = maxRunSeconds ?? longestFlexSeconds;
    return {
      ...node,
      maxRunDurationSeconds: why("the node goes at its end, whatever runs there", life),
      flexStart: {
        enabled: true,
        ...(life >= 4 * leadSeconds
          ? {
              nodeRecycling: {
                leadTimeSeconds: why(
                  "a replacement comes first, then pods are drained instead of cut off",
                  leadSeconds,
                ),
              },
            }
          : {}),
      },
    };
  }
  const life = maxRunSeconds === undefined ? {} : { maxRunDurationSeconds: maxRunSeconds };
  if (capacity === "on-demand") return { ...node, ...life, spot: false };
  return {
    ...node,
    ...life,
    spot: true,
    ...(pool.spotWindow === 60
      ? {
          nodeSystemConfig: {
            kubeletConfig: {
              shutdownGracePeriodSeconds: why("120 s instead of 30 s; allowed on a Spot rule only", 120),
              shutdownGracePeriodCriticalPodsSeconds: why("leaves 60 s to pods like these", 60),
            },
          },
        }
      : {}),
  };
}
