import { keys } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import { requirementOn } from "../placement/place.ts";
import type { Pool } from "../pools/pool.ts";
import type { Report, Rule } from "../rule.ts";

export const unknownNodePool: Rule = {
  id: "unknown-node-pool",
  title: "The selected node pool does not exist",
  severity: "error",
  why: "A pod that selects cloud.google.com/gke-nodepool by a name no pool has stays Pending for ever; the autoscaler cannot help.",
  fix: "Correct the name, or declare the pool.",
  sources: ["GKE: node pools, scheduling on specific pools"],
  *template({ template, placement }, { supply }) {
    const requirement = requirementOn(placement.constraints, keys.nodePool);
    if (!requirement || requirement.operator !== "In" || supply.pools.length === 0) return;
    const known = supply.pools.flatMap(({ name }) => name ?? []);
    if (known.length < supply.pools.length) return;
    for (const value of requirement.values) {
      if (known.includes(value) || /[$<{]/.test(value)) continue;
      const near = nearest(value, known, 2);
      // Files that were merely found need not be all pools there are; then only a likely slip is told.
      if (!supply.isComplete && !near) continue;
      const node = template.spec.get("nodeSelector", keys.nodePool);
      yield {
        at: node ?? requirement.span,
        severity: supply.isComplete ? "error" : "warning",
        message: `there is no node pool "${value}"${near ? `; did you mean "${near}"?` : ` among ${known.slice(0, 5).join(", ")}`}: the pod stays Pending`,
        related: near ? relatedPool(near, supply.pools) : undefined,
        fix: near && node && supply.isComplete ? fixOf("safe", `write ${near}`, replaceValue(node, near)) : undefined,
      };
    }
  },
};

function relatedPool(name: string, pools: readonly Pool[]): Report["related"] {
  const pool = pools.find((one) => one.name === name);
  return pool ? { span: pool.span, message: `the pool "${name}"` } : undefined;
}
