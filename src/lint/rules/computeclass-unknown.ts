import { keys } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import { builtInClasses } from "../pools/compute-class.ts";
import type { Rule } from "../rule.ts";

export const computeclassUnknown: Rule = {
  id: "computeclass-unknown",
  title: "The selected ComputeClass is spelt differently where it is declared",
  severity: "error",
  why: "A pod that selects a ComputeClass that does not exist stays Pending (no.scale.up.nap.ccc.not.found).",
  fix: "Correct the name, or declare the class.",
  sources: ["GKE: ComputeClass", "GKE cluster autoscaler: messages"],
  *template({ template, placement }, { supply }) {
    const name = placement.className;
    if (name === undefined || supply.classes.has(name) || builtInClasses.includes(name) || /[$<{]/.test(name)) return;
    // The class may be declared elsewhere; only a likely slip is told.
    const near = nearest(name, [...supply.classes.keys(), ...builtInClasses], 2);
    const node = template.spec.get("nodeSelector", keys.computeClass);
    if (!near || !node) return;
    const declared = supply.classes.get(near);
    yield {
      at: node,
      severity: declared ? "error" : "warning",
      message: `there is no ComputeClass "${name}"; did you mean "${near}"? As written the pod stays Pending`,
      related: declared ? { span: declared.object.node, message: "the class" } : undefined,
      fix: fixOf("safe", `write ${near}`, replaceValue(node, near)),
    };
  },
};
