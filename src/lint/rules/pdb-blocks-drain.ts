import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";
import { sharedDepth } from "./shared/closest.ts";
import { isSameNamespace, replicasOf, selects } from "./shared/work.ts";

export const pdbBlocksDrain: Rule = {
  id: "pdb-blocks-drain",
  title: "A PodDisruptionBudget that allows no eviction",
  severity: "error",
  why: "maxUnavailable 0, or a minAvailable that equals the replicas, blocks every drain: node upgrades hang for an hour and then go ahead anyway, and the autoscaler can never remove the node. It does not stop Spot preemption.",
  fix: "Use maxUnavailable: 1.",
  sources: ["Kubernetes: pod disruption budgets", "GKE: node upgrades"],
  *object(object, context) {
    if (object.kind !== "PodDisruptionBudget") return;
    const spec = object.node.get("spec");
    const most = spec?.get("maxUnavailable");
    const least = spec?.get("minAvailable");
    if (most && (most.number === 0 || most.text === "0%")) {
      yield {
        at: most,
        message: "maxUnavailable 0 allows no eviction at all: drains and upgrades hang",
        fix: fixOf("unsafe", "set it to 1", replaceValue(most, "1")),
      };
      return;
    }
    if (least?.text === "100%") {
      yield { at: least, message: "minAvailable 100% allows no eviction at all: drains and upgrades hang" };
      return;
    }
    const covered = context.templates.filter(
      ({ template }) =>
        isSameNamespace(template.object.namespace, object.namespace) &&
        template.nature === "serving" &&
        selects(spec?.get("selector"), template),
    );
    const nearest = Math.max(
      ...covered.map(({ template }) => sharedDepth(template.node.file.path, object.node.file.path)),
    );
    for (const { template } of covered) {
      if (sharedDepth(template.node.file.path, object.node.file.path) < nearest) continue;
      const replicas = replicasOf(template, context);
      if (replicas === undefined || replicas === 0 || least?.number === undefined || least.number < replicas) continue;
      yield {
        at: least,
        message: `minAvailable ${least.number} of ${replicas} replica${replicas === 1 ? "" : "s"} of ${template.object.kind} "${template.object.name}" allows no eviction at all: drains and upgrades hang`,
        related: { span: template.holder?.get("replicas") ?? template.node, message: "the replicas" },
      };
    }
  },
};
