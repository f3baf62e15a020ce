import { addEntry, fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const jobPolicyNeedsNever: Rule = {
  id: "job-policy-needs-never",
  title: "A podFailurePolicy without restartPolicy Never is refused",
  severity: "error",
  why: "The API server rejects a Job with a podFailurePolicy unless its pods have restartPolicy: Never. A JobSet fills in OnFailure where nothing is set, so there it must be written.",
  fix: "Set restartPolicy: Never.",
  sources: ["Kubernetes: Jobs, pod failure policy", "Kubernetes: batch validation"],
  *template({ template }) {
    const policy = template.jobSpec?.entry("podFailurePolicy");
    const restart = template.spec.get("restartPolicy");
    if (!policy || restart?.text === "Never") return;
    yield {
      at: restart ?? policy.key,
      message: `podFailurePolicy needs restartPolicy Never, this is ${restart?.text ?? "not set"}: the API server refuses the Job`,
      related: restart ? { span: policy.key, message: "the policy" } : undefined,
      fix: fixOf(
        "safe",
        "set restartPolicy: Never",
        restart ? replaceValue(restart, "Never") : addEntry(template.spec, "restartPolicy", "Never"),
      ),
    };
  },
};
