import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const priorityBelowAutoscalerCutoff: Rule = {
  id: "priority-below-autoscaler-cutoff",
  title: "A priority below -10 brings no node",
  severity: "error",
  why: "On Standard clusters pods with a priority below -10 are expendable: the autoscaler adds no node for them and removes nodes under them. On a pool that is at 0 they stay Pending for ever. Autopilot has no such cutoff.",
  fix: "Use a value from -10 to -1 for work that may wait.",
  sources: ["Kubernetes autoscaler FAQ: pod priority and preemption", "GKE cluster autoscaler: flags"],
  *object(object, context) {
    if (object.kind !== "PriorityClass" || context.supply.isAutopilot) return;
    const value = object.node.get("value");
    if (value?.number === undefined || value.number >= -10) return;
    const user = context.templates.find(({ template }) => template.spec.get("priorityClassName")?.text === object.name);
    yield {
      at: value,
      severity: user ? "error" : "warning",
      message: `priority ${value.number} is below -10: no node is added for pods of "${object.name}"${user ? ` such as ${user.template.object.kind} "${user.template.object.name}"` : ""}, and nodes are removed under them`,
      related: user
        ? { span: user.template.spec.get("priorityClassName") ?? user.template.spec, message: "used here" }
        : undefined,
      fix: fixOf("unsafe", "set it to -10", replaceValue(value, "-10")),
    };
  },
};
