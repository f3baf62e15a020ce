import type { Workload } from "../../spec/workload/index.ts";
import { placeholders, usesPool } from "../names.ts";
import type { Step } from "../types.ts";

/** The kubelet's window that leaves 60 s to regular pods: 120 s in all, of which system pods get the last 60. */
export const longWindow: { readonly total: number; readonly critical: number } = { total: 120, critical: 60 };

/** Everything about a pool that gcloud and Terraform both have to say. */
export interface PoolPlan {
  readonly name: string;
  readonly isSpot: boolean;
  readonly isFlex: boolean;
  readonly isQueued: boolean;
  readonly taints: Workload["pool"]["taints"];
  readonly maxRunSeconds: number | undefined;
  readonly hasLongWindow: boolean;
}

/** The pool that a workload needs made; undefined where it exists or nodes come by themselves. */
export function planPool(workload: Workload): PoolPlan | undefined {
  const {
    pool,
    capacity: [capacity],
    flexStart,
    maxRunSeconds,
  } = workload;
  if (!usesPool(workload) || !pool.create) return undefined;
  const isSpot = capacity === "spot";
  const isFlex = capacity === "flex-start";
  return {
    name: pool.name,
    isSpot,
    isFlex,
    isQueued: isFlex && flexStart.mode !== "plain",
    // GKE taints no Spot pool that is made by hand: without it ordinary pods land there and are evicted.
    taints: [
      ...(isSpot ? [{ key: "cloud.google.com/gke-spot", value: "true", effect: "NoSchedule" as const }] : []),
      ...pool.taints,
    ],
    maxRunSeconds,
    hasLongWindow: isSpot && pool.spotWindow === 60,
  };
}

/** The gcloud command that makes the pool. */
export function nodePoolSteps(workload: Workload): readonly Step[] {
  const plan = planPool(workload);
  if (!plan) return [];
  const { pool, machine, accelerator } = workload;
  const { cluster, location, project } = placeholders(workload);
  const file = "outlast-node-system-config.yaml";
  const argv = [
    "gcloud",
    "container",
    "node-pools",
    "create",
    plan.name,
    `--cluster=${cluster}`,
    `--location=${location}`,
    `--project=${project}`,
    ...(pool.zones.length > 0 ? [`--node-locations=${pool.zones.join(",")}`] : []),
    ...(machine === undefined ? [] : [`--machine-type=${machine}`]),
    ...(accelerator ? [`--accelerator=type=${accelerator.type},count=${accelerator.nodeCount}`] : []),
    ...(plan.isSpot ? ["--spot"] : []),
    ...(plan.isFlex ? ["--flex-start"] : []),
    ...(plan.isQueued ? ["--enable-queued-provisioning"] : []),
    ...(plan.maxRunSeconds === undefined ? [] : [`--max-run-duration=${plan.maxRunSeconds}s`]),
    // Counted per zone, unlike the totals below: enough to begin with, and the autoscaler does the rest.
    `--num-nodes=${Math.min(1, pool.min)}`,
    "--enable-autoscaling",
    `--total-min-nodes=${pool.min}`,
    `--total-max-nodes=${pool.max}`,
    "--location-policy=ANY",
    ...(plan.isFlex ? ["--reservation-affinity=none", "--no-enable-autorepair"] : []),
    ...(plan.taints.length > 0
      ? [`--node-taints=${plan.taints.map(({ key, value, effect }) => `${key}=${value}:${effect}`).join(",")}`]
      : []),
    ...(Object.keys(pool.labels).length > 0
      ? [
          `--node-labels=${Object.entries(pool.labels)
            .map(([key, value]) => `${key}=${value}`)
            .join(",")}`,
        ]
      : []),
    ...(plan.hasLongWindow ? [`--system-config-from-file=${file}`] : []),
    "--workload-metadata=GKE_METADATA",
  ];
  return [
    {
      purpose: purposeOf(plan),
      argv,
      ...(plan.hasLongWindow
        ? {
            file: {
              name: file,
              text: `kubeletConfig:\n  shutdownGracePeriodSeconds: ${longWindow.total}\n  shutdownGracePeriodCriticalPodsSeconds: ${longWindow.critical}\n`,
            },
          }
        : {}),
    },
  ];
}

function purposeOf({ isSpot, isFlex, isQueued }: PoolPlan): string {
  if (isSpot) return "A Spot pool that starts at its least size. The taint is ours: --spot alone adds none.";
  if (isQueued) return "A queued flex-start pool: tainted, and nodes come only by a ProvisioningRequest.";
  return isFlex ? "A flex-start pool: nodes come one by one when pods wait for them." : "An on-demand pool.";
}
