import type { Rule } from "../rule.ts";

export const flexstartPoolMisconfigured: Rule = {
  id: "flexstart-pool-misconfigured",
  title: "A flex-start pool with settings that flex-start refuses",
  severity: "error",
  why: "Flex-start nodes come one by one from the queue and go at their end: the pool must scale from 0, without reservation, without auto-repair, and cannot be Spot. Other settings are refused or leave the pool empty.",
  fix: "Use --num-nodes 0, --enable-autoscaling with a minimum of 0, --reservation-affinity none and --no-enable-autorepair.",
  sources: ["GKE: run a small batch workload with flex-start", "Cluster Toolkit: gke-node-pool preconditions"],
  *pool(pool) {
    if (pool.capacity !== "flexStart" && !pool.isQueued) return;
    const wrong = [
      ...((pool.staticNodes ?? 0) > 0 ? [`${pool.staticNodes} static nodes, must be 0`] : []),
      ...((pool.minNodes ?? 0) > 0 ? [`a minimum of ${pool.minNodes} nodes, must be 0`] : []),
      ...(pool.usesReservation ? ["a reservation, must be none"] : []),
      ...(pool.hasAutoRepair === true ? ["auto-repair on, must be off"] : []),
    ];
    if (wrong.length > 0)
      yield { at: pool.span, message: `the flex-start pool "${pool.name ?? "?"}" has ${wrong.join("; ")}` };
  },
};
