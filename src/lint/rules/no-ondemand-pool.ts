import type { Rule } from "../rule.ts";

export const noOndemandPool: Rule = {
  id: "no-ondemand-pool",
  title: "Every pool of the cluster can be taken away",
  severity: "error",
  why: "System pods (DNS, autoscaler helpers, operators) need a node that stays. With only Spot and flex-start pools the cluster itself stops when capacity does.",
  fix: "Keep one small on-demand pool.",
  sources: ["GKE: Spot VMs, best practices", "GKE: flex-start, limitations"],
  *run({ supply }) {
    if (!supply.isComplete || supply.isAutopilot || supply.hasAutoProvisioning || supply.pools.length === 0) return;
    if (!supply.pools.every(({ capacity }) => capacity === "spot" || capacity === "flexStart")) return;
    const [first] = supply.pools;
    if (first)
      yield {
        at: first.span,
        message: `all ${supply.pools.length} pools are Spot or flex-start: system pods have no node that stays`,
      };
  },
};
