import { because, type Rule } from "../rule.ts";

export const jobOnfailureOnSpot: Rule = {
  id: "job-onfailure-on-spot",
  title: "restartPolicy OnFailure rules out forgiving evictions",
  severity: "info",
  why: "With OnFailure the kubelet restarts the container on the same node, and each restart counts towards backoffLimit. A node that is taken is a failed pod all the same, and podFailurePolicy, which could forgive it, needs Never.",
  fix: "Use restartPolicy: Never with a podFailurePolicy that ignores DisruptionTarget.",
  sources: ["Kubernetes: Jobs, pod failure policy"],
  *template({ template, placement }) {
    const restart = template.spec.get("restartPolicy");
    if (!template.jobSpec || template.object.kind === "JobSet" || restart?.text !== "OnFailure") return;
    const { spot } = placement.reach;
    if (spot.verdict !== "must" && spot.verdict !== "may") return;
    yield {
      at: restart,
      message: "OnFailure on Spot: evictions cannot be told from failures, because podFailurePolicy needs Never",
      related: because(spot),
    };
  },
};
