import type { Rule } from "../rule.ts";
import { isAboutEviction, policyRules } from "./shared/work.ts";

export const jobsetDisruptionRulePartial: Rule = {
  id: "jobset-disruption-rule-partial",
  title: "Only some jobs of a JobSet know evictions from failures",
  severity: "warning",
  why: "A rule on DisruptionTarget in one replicated job does nothing for the others: an eviction there is a plain failure and burns maxRestarts.",
  fix: "Give every replicated job the same podFailurePolicy.",
  sources: ["JobSet: failure policy", "Kubernetes: Jobs, pod failure policy"],
  *run(context) {
    for (const object of context.ofKind("JobSet")) {
      const own = context.templates.filter(({ template }) => template.object === object && template.jobSpec);
      const has = own.filter(({ template }) => template.jobSpec && policyRules(template.jobSpec).some(isAboutEviction));
      if (has.length === 0 || has.length === own.length) continue;
      for (const { template, placement } of own) {
        if (
          !template.jobSpec ||
          policyRules(template.jobSpec).some(isAboutEviction) ||
          placement.interruptible === "never"
        )
          continue;
        const name = template.replicatedJob?.get("name");
        yield {
          at: name ?? template.node,
          severity: placement.interruptible === "unknown" ? "info" : "warning",
          message: `the job "${name?.text ?? ""}" has no rule on DisruptionTarget while others of the JobSet do: its evictions count as failures`,
        };
      }
    }
  },
};
