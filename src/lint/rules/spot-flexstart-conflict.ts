import { keys } from "../facts/keys.ts";
import type { Rule } from "../rule.ts";

export const spotFlexstartConflict: Rule = {
  id: "spot-flexstart-conflict",
  title: "Spot and flex-start are selected at once",
  severity: "error",
  why: "No node is both. The autoscaler refuses to scale up (no.scale.up.flex.start.misconfigured.error) and the pod stays Pending.",
  fix: "Select one of them; to fall back from one to the other use a ComputeClass with priorities.",
  sources: ["GKE cluster autoscaler: flex-start injection"],
  *template({ placement }) {
    for (const requirements of placement.constraints.alternatives) {
      const spot = requirements.find(
        ({ key, operator, values }) =>
          (key === keys.spot || key === keys.preemptible) && operator === "In" && values.includes("true"),
      );
      const flex = requirements.find(
        ({ key, operator, values }) =>
          (key === keys.flexStart && operator === "In" && values.includes("true")) ||
          (key === keys.provisioning && values.includes("flex-start") && values.length === 1),
      );
      if (spot && flex)
        yield {
          at: flex.span,
          message: "Spot and flex-start are both selected: no node is both, the pod stays Pending",
          related: { span: spot.span, message: "Spot is selected here" },
        };
    }
  },
};
