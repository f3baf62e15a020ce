import { keys } from "../facts/keys.ts";
import { requirementOn } from "../placement/place.ts";
import type { Rule } from "../rule.ts";

export const computeclassSelectorConflict: Rule = {
  id: "computeclass-selector-conflict",
  title: "A selector beside a ComputeClass cuts off its fallbacks",
  severity: "warning",
  why: "The class decides between Spot, flex-start and on-demand. A selector for one of them on the same pod contradicts every rule for the others: when that capacity is out, the pod waits although the class lists a fallback.",
  fix: "Select the class only.",
  sources: ["GKE: ComputeClass, requesting a class"],
  *template({ placement }) {
    const { computeClass } = placement;
    if (!computeClass || computeClass.rules.length < 2) return;
    for (const key of [keys.spot, keys.flexStart, keys.provisioning]) {
      const requirement = requirementOn(placement.constraints, key);
      const kinds = new Set(computeClass.rules.map(({ capacity }) => capacity));
      if (requirement && kinds.size > 1) {
        yield {
          at: requirement.span,
          message: `${key} beside the ComputeClass "${computeClass.name}" shuts out its other ${computeClass.rules.length - 1} rules: there is no fallback`,
          related: { span: computeClass.object.node, message: "the class" },
        };
      }
    }
  },
};
