import { keys } from "../facts/keys.ts";
import type { Rule } from "../rule.ts";

export const spotTolerationOnFlexstart: Rule = {
  id: "spot-toleration-on-flexstart",
  title: "A flex-start pod tolerates the Spot taint",
  severity: "warning",
  why: "Flex-start nodes do not carry the Spot taint, so the toleration does nothing for a pod that selects flex-start. It is copied from Spot examples, and does harm the day the selector goes: the pod may then land on Spot.",
  fix: "Take the toleration out.",
  sources: ["GKE cluster autoscaler: flex-start injection"],
  *template({ placement }) {
    if (placement.reach.flexStart.verdict !== "must" || placement.computeClass) return;
    for (const { key, node } of placement.constraints.tolerations) {
      if (key === keys.spot)
        yield { at: node, message: "flex-start nodes have no Spot taint: this toleration does nothing here" };
    }
  },
};
