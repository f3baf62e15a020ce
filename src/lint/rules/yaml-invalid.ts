import type { Rule } from "../rule.ts";

export const yamlInvalid: Rule = {
  id: "yaml-invalid",
  title: "The file cannot be read",
  severity: "error",
  why: "A document that is no YAML is refused by kubectl as a whole.",
  fix: "Correct the place that the message names.",
  sources: ["YAML 1.2"],
  *document({ error }) {
    if (error) yield { at: error.span, message: error.message };
  },
};
