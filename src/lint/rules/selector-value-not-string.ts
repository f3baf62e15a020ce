import { fixOf, quoteValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";

export const selectorValueNotString: Rule = {
  id: "selector-value-not-string",
  title: "A label or selector value that is no string",
  severity: "error",
  why: "Labels, selectors and annotations hold strings. An unquoted true, false or number is another type in YAML, and the API server refuses the object.",
  fix: "Put the value in quotes.",
  sources: ["Kubernetes: labels and selectors; API validation"],
  *template({ template }) {
    const { spec, metadata } = template;
    const maps: [string, Node | undefined][] = [
      ["nodeSelector", spec.get("nodeSelector")],
      ["labels", metadata?.get("labels")],
      ["annotations", metadata?.get("annotations")],
    ];
    for (const [what, map] of maps) {
      for (const { name, value } of map?.entries ?? []) {
        if (value.kind !== "scalar" || typeof value.value === "string" || value.value === null) continue;
        yield {
          at: value,
          message: `${what}: ${name} is ${typeof value.value === "boolean" ? "a boolean" : "a number"}, not a string: the API server refuses it`,
          fix: fixOf("safe", "put it in quotes", quoteValue(value)),
        };
      }
    }
    for (const toleration of spec.get("tolerations")?.items ?? []) {
      const value = toleration.get("value");
      if (!value || value.kind !== "scalar" || typeof value.value === "string" || value.value === null) continue;
      yield {
        at: value,
        message: `a toleration's value is a string, this is ${typeof value.value === "boolean" ? "a boolean" : "a number"}: the API server refuses it`,
        fix: fixOf("safe", "put it in quotes", quoteValue(value)),
      };
    }
  },
};
