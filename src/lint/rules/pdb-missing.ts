import { nameOf, type Rule } from "../rule.ts";
import { isInference, isSameNamespace, replicasOf, selects } from "./shared/work.ts";

export const pdbMissing: Rule = {
  id: "pdb-missing",
  title: "Drains may take all serving replicas at once",
  severity: "info",
  why: "Node upgrades and scale-down evict pods through the Eviction API, which a PodDisruptionBudget limits. Without one all replicas can be evicted together, while new ones still load the model. (It does not help against Spot preemption.)",
  fix: "Add a PodDisruptionBudget with maxUnavailable: 1.",
  sources: ["Kubernetes: pod disruption budgets"],
  *template({ template }, context) {
    if (template.object.kind !== "Deployment" && template.object.kind !== "StatefulSet") return;
    if (!isInference(template)) return;
    const replicas = replicasOf(template, context);
    if (replicas === undefined || replicas < 2) return;
    const budgets = context
      .ofKind("PodDisruptionBudget")
      .filter(({ namespace }) => isSameNamespace(namespace, template.object.namespace));
    if (budgets.some(({ node }) => selects(node.get("spec", "selector"), template))) return;
    yield {
      at: template.object.node.get("kind") ?? template.node,
      message: `${nameOf(template)} has ${replicas} replicas and no PodDisruptionBudget: a drain may take all of them at once`,
    };
  },
};
