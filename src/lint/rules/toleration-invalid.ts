import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const tolerationInvalid: Rule = {
  id: "toleration-invalid",
  title: "A toleration that the API server refuses",
  severity: "error",
  why: "Operator and effect are exact words; Exists takes no value; tolerationSeconds goes with NoExecute only; without a key the operator must be Exists.",
  fix: "Correct the toleration as the message says.",
  sources: ["Kubernetes: taints and tolerations; core validation"],
  *template({ placement }) {
    for (const { key, operator, value, effect, node } of placement.constraints.tolerations) {
      const operatorNode = node.get("operator");
      if (operatorNode && operator !== "Exists" && operator !== "Equal" && operator !== "Lt" && operator !== "Gt") {
        const near = nearest(operator, ["Exists", "Equal"], 2);
        yield {
          at: operatorNode,
          message: `"${operator}" is no operator; write Exists or Equal`,
          fix: near ? fixOf("safe", `write ${near}`, replaceValue(operatorNode, near)) : undefined,
        };
      }
      const effectNode = node.get("effect");
      const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
      if (effectNode && effect && !effects.includes(effect)) {
        const near =
          nearest(effect, effects, 2) ??
          { NO_SCHEDULE: "NoSchedule", NO_EXECUTE: "NoExecute", PREFER_NO_SCHEDULE: "PreferNoSchedule" }[effect];
        yield {
          at: effectNode,
          message: `"${effect}" is no effect; write ${near ?? effects.join(", ")}`,
          fix: near ? fixOf("safe", `write ${near}`, replaceValue(effectNode, near)) : undefined,
        };
      }
      if (operator === "Exists" && value !== "")
        yield { at: node.get("value") ?? node, message: "operator Exists takes no value: the API server refuses it" };
      if (!key && operator === "Equal")
        yield { at: node, message: "without a key the operator must be Exists: the API server refuses it" };
      const seconds = node.get("tolerationSeconds");
      if (seconds && effect !== "NoExecute")
        yield { at: seconds, message: "tolerationSeconds goes with effect NoExecute only: the API server refuses it" };
    }
  },
};
