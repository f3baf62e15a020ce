import type { Taint, Workload } from "../../spec/workload/index.ts";
import { placeholders } from "../names.ts";
import { toHcl } from "./hcl.ts";
import { longWindow, planPool } from "./node-pool.ts";

/** Terraform spells the effects of taints in its own way. */
const effects: Readonly<Record<Taint["effect"], string>> = {
  NoSchedule: "NO_SCHEDULE",
  PreferNoSchedule: "PREFER_NO_SCHEDULE",
  NoExecute: "NO_EXECUTE",
};

/** The node pool as Terraform; empty where none is to be made. */
export function poolTerraform(workload: Workload): string {
  const plan = planPool(workload);
  if (!plan) return "";
  const { pool, machine, accelerator } = workload;
  const { cluster, location, project } = placeholders(workload);
  return toHcl({
    type: "resource",
    labels: ["google_container_node_pool", plan.name.replaceAll("-", "_")],
    attributes: {
      name: plan.name,
      cluster,
      location,
      project,
      node_locations: pool.zones.length > 0 ? pool.zones : undefined,
      initial_node_count: Math.min(1, pool.min),
    },
    blocks: [
      {
        type: "autoscaling",
        comment: "totals, not per zone",
        attributes: { total_min_node_count: pool.min, total_max_node_count: pool.max, location_policy: "ANY" },
      },
      plan.isFlex
        ? {
            type: "management",
            comment: "flex-start nodes are not repaired",
            attributes: { auto_repair: false, auto_upgrade: true },
          }
        : undefined,
      plan.isFlex ? { type: "queued_provisioning", attributes: { enabled: plan.isQueued } } : undefined,
      {
        type: "node_config",
        attributes: {
          machine_type: machine,
          spot: plan.isSpot ? true : undefined,
          flex_start: plan.isFlex ? true : undefined,
          max_run_duration: plan.maxRunSeconds === undefined ? undefined : `${plan.maxRunSeconds}s`,
          labels: Object.keys(pool.labels).length > 0 ? pool.labels : undefined,
        },
        blocks: [
          accelerator
            ? {
                type: "guest_accelerator",
                attributes: { type: accelerator.type, count: accelerator.nodeCount },
                blocks: [{ type: "gpu_driver_installation_config", attributes: { gpu_driver_version: "LATEST" } }],
              }
            : undefined,
          plan.isFlex
            ? { type: "reservation_affinity", attributes: { consume_reservation_type: "NO_RESERVATION" } }
            : undefined,
          ...plan.taints.map(({ key, value, effect }) => ({
            type: "taint",
            attributes: { key, value, effect: effects[effect] },
          })),
          plan.hasLongWindow
            ? {
                type: "kubelet_config",
                comment: "provider 7.39 or later",
                attributes: {
                  shutdown_grace_period_seconds: longWindow.total,
                  shutdown_grace_period_critical_pods_seconds: longWindow.critical,
                },
              }
            : undefined,
          { type: "workload_metadata_config", comment: "Workload Identity", attributes: { mode: "GKE_METADATA" } },
        ],
      },
    ],
  });
}
