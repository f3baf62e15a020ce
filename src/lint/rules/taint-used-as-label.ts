import { keys } from "../facts/keys.ts";
import { requirementOn } from "../placement/place.ts";
import type { Rule } from "../rule.ts";

export const taintUsedAsLabel: Rule = {
  id: "taint-used-as-label",
  title: "A node selector on something that is only a taint",
  severity: "error",
  why: "cloud.google.com/gke-queued is a taint of queued-provisioning pools; no node carries it as a label unless the pool declares it. A selector on it matches nothing.",
  fix: "Tolerate it instead, and select the pool by cloud.google.com/gke-nodepool.",
  sources: ["GKE: flex-start with queued provisioning"],
  *template({ placement }, { supply }) {
    const requirement = requirementOn(placement.constraints, keys.queued);
    if (!requirement || (requirement.operator !== "In" && requirement.operator !== "Exists")) return;
    if (supply.pools.some(({ labels, hasAllLabels }) => labels[keys.queued] !== undefined || !hasAllLabels)) return;
    yield {
      at: requirement.span,
      // Blueprints of the Cluster Toolkit do set such a label, and may be elsewhere.
      severity: supply.isComplete ? "error" : "warning",
      message: `${keys.queued} is a taint, not a label${supply.isComplete ? "" : " unless a pool declares it"}: this selector matches no node`,
    };
  },
};
