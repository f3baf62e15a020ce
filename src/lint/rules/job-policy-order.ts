import type { Rule } from "../rule.ts";
import { forgivesEviction, policyRules } from "./shared/work.ts";

export const jobPolicyOrder: Rule = {
  id: "job-policy-order",
  title: "A rule about exit codes catches evictions before the one that forgives them",
  severity: "warning",
  why: "The first matching rule of a podFailurePolicy wins. An evicted program ends with 143 (SIGTERM) or 137 (SIGKILL); an earlier FailJob, FailIndex or Count on those codes decides before Ignore on DisruptionTarget is looked at.",
  fix: "Put the rule that ignores DisruptionTarget first.",
  sources: ["Kubernetes: Jobs, pod failure policy"],
  *template({ template }) {
    const rules = template.jobSpec ? policyRules(template.jobSpec) : [];
    const forgiving = rules.findIndex(forgivesEviction);
    for (const rule of rules.slice(0, Math.max(0, forgiving))) {
      const action = rule.get("action")?.text ?? "";
      const codes = rule.get("onExitCodes");
      if (!codes || action === "Ignore") continue;
      const values = codes.get("values")?.items.map((one) => one.number) ?? [];
      const isNot = codes.get("operator")?.text === "NotIn";
      const hit = [143, 137].filter((code) => values.includes(code) !== isNot);
      if (hit.length === 0) continue;
      yield {
        at: rule,
        message: `${action} on exit code ${hit.join(" and ")} comes before the rule that ignores evictions: an eviction with that code is a failure`,
        related: rules[forgiving] ? { span: rules[forgiving], message: "the rule that comes too late" } : undefined,
      };
    }
  },
};
