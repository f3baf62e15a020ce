import type { Rule } from "../rule.ts";
import { isSameNamespace, selects } from "./shared/work.ts";

export const pdbBadForJob: Rule = {
  id: "pdb-bad-for-job",
  title: "A PodDisruptionBudget that cannot be computed for a Job",
  severity: "error",
  why: "Jobs have no scale, so a percentage or maxUnavailable cannot be turned into a number (event CalculateExpectedPodCountFailed) and every eviction of these pods is refused. No budget protects from Spot preemption.",
  fix: "Use a whole number for minAvailable, or drop the budget: restartable work does not need one.",
  sources: ["Kubernetes: specifying a disruption budget, arbitrary controllers"],
  *object(object, context) {
    if (object.kind !== "PodDisruptionBudget") return;
    const spec = object.node.get("spec");
    const most = spec?.get("maxUnavailable");
    const least = spec?.get("minAvailable");
    const bad = most ?? (least?.text?.endsWith("%") ? least : undefined);
    if (!bad) return;
    const job = context.templates.find(
      ({ template }) =>
        template.jobSpec &&
        isSameNamespace(template.object.namespace, object.namespace) &&
        selects(spec?.get("selector"), template),
    );
    if (!job) return;
    yield {
      at: bad,
      message: `${most ? "maxUnavailable" : "a percentage"} cannot be computed for ${job.template.object.kind} "${job.template.object.name}": every eviction is refused`,
      related: { span: job.template.node, message: "the job's pods" },
    };
  },
};
