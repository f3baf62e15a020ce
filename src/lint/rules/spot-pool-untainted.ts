import { keys } from "../facts/keys.ts";
import type { Rule } from "../rule.ts";

export const spotPoolUntainted: Rule = {
  id: "spot-pool-untainted",
  title: "A Spot pool without a taint takes any pod",
  severity: "warning",
  why: "`--spot` adds a label, not a taint. Without one, controllers, databases and web servers of the cluster land on Spot nodes whenever there is room, and are evicted with them.",
  fix: "Add the taint cloud.google.com/gke-spot=true:NoSchedule to the pool, and tolerate it where Spot is meant.",
  sources: ["GKE: Spot VMs, use taints and tolerations"],
  *pool(pool, { supply }) {
    if (pool.capacity !== "spot" || pool.taints.length > 0 || !pool.hasAllLabels || !pool.machineType) return;
    // GPU and TPU nodes are kept free of other pods by their own taint.
    if (pool.accelerator || /^(?:a2|a3|a4|a4x|g2|g4|ct|tpu)/.test(pool.machineType ?? "")) return;
    const others = supply.pools.some(({ capacity }) => capacity === "onDemand");
    if (!others) return;
    const hint =
      pool.source === "terraform"
        ? `taint { key = "${keys.spot}", value = "true", effect = "NO_SCHEDULE" }`
        : `--node-taints=${keys.spot}=true:NoSchedule`;
    yield {
      at: pool.span,
      message: `the Spot pool "${pool.name ?? "?"}" has no taint: any pod may land on it. Add ${hint}`,
    };
  },
};
