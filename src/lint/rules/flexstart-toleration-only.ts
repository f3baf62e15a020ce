import { keys } from "../facts/keys.ts";
import { addEntry, fixOf } from "../fix/edits.ts";
import { requirementOn } from "../placement/place.ts";
import type { Rule } from "../rule.ts";

export const flexstartTolerationOnly: Rule = {
  id: "flexstart-toleration-only",
  title: "Flex-start is tolerated but not selected",
  severity: "warning",
  why: "The toleration lets a pod onto flex-start nodes, it does not ask for them; auto-provisioning calls a toleration without the selector a misconfiguration and makes no node.",
  fix: 'Add the node selector cloud.google.com/gke-flex-start: "true".',
  sources: ["GKE cluster autoscaler: flex-start injection"],
  *template({ template, placement }, { supply }) {
    const toleration = placement.constraints.tolerations.find(({ key }) => key === keys.flexStart);
    const selects = [keys.flexStart, keys.provisioning, keys.nodePool, keys.computeClass].some((key) =>
      requirementOn(placement.constraints, key),
    );
    if (!toleration || selects || template.nature === "daemon") return;
    // With a declared flex-start pool the pod does find its way there.
    if (placement.candidates.some(({ capacity }) => capacity === "flexStart")) return;
    const selector = template.spec.get("nodeSelector");
    const edit = selector
      ? addEntry(selector, keys.flexStart, '"true"')
      : addEntry(template.spec, "nodeSelector", `\n${keys.flexStart}: "true"`);
    yield {
      at: toleration.node,
      severity: supply.hasAutoProvisioning ? "error" : "warning",
      message: "flex-start is tolerated but not selected: no flex-start node is made for this pod",
      fix: fixOf("unsafe", "select flex-start", edit),
    };
  },
};
