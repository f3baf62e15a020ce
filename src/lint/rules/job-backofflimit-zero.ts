import { fixOf, replaceValue } from "../fix/edits.ts";
import { because, nameOf, type Rule, severityBy } from "../rule.ts";
import { areEvictionsForgiven } from "./shared/work.ts";

export const jobBackofflimitZero: Rule = {
  id: "job-backofflimit-zero",
  title: "The first eviction fails the Job",
  severity: "error",
  why: "backoffLimit: 0 means no retry. On a node that is taken away the very first eviction ends the Job as failed, unless a podFailurePolicy ignores DisruptionTarget.",
  fix: "Keep 0 if you want no retry after a bug, and add a podFailurePolicy that ignores DisruptionTarget; or raise the limit.",
  sources: ["Kubernetes: Jobs, pod backoff failure policy"],
  *template({ template, placement }) {
    const limit = template.jobSpec?.get("backoffLimit");
    if (limit?.number !== 0 || areEvictionsForgiven(template)) return;
    // In a JobSet 0 is right: the JobSet restarts, and another rule asks whether it does.
    if (template.object.kind === "JobSet") return;
    const moves = placement.computeClass?.migration !== undefined;
    const severity = moves
      ? "error"
      : severityBy(placement.interruptible, {
          must: placement.reach.spot.verdict === "never" ? "warning" : "error",
          may: "warning",
        });
    if (!severity) return;
    const reach = placement.reach.spot.verdict === "never" ? placement.reach.flexStart : placement.reach.spot;
    yield {
      at: limit,
      severity,
      message: `backoffLimit 0: ${nameOf(template)} fails for good at the 1st eviction`,
      related: because(reach),
      fix: fixOf("unsafe", "set it to 6", replaceValue(limit, "6")),
    };
  },
};
