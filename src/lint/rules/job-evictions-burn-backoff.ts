import { addEntry, fixOf, replaceValue } from "../fix/edits.ts";
import { because, nameOf, type Rule, severityBy } from "../rule.ts";
import type { Node } from "../source/node.ts";
import { areEvictionsForgiven } from "./shared/work.ts";

export const jobEvictionsBurnBackoff: Rule = {
  id: "job-evictions-burn-backoff",
  title: "Each eviction counts as a failure of the Job",
  severity: "error",
  why: "Without a podFailurePolicy that ignores DisruptionTarget, an evicted pod is a failed pod. After backoffLimit failures (6 unless set) the Job is failed for good, however healthy the program is: with the default, the 7th eviction ends it.",
  fix: "Add a podFailurePolicy whose first rule ignores the pod condition DisruptionTarget, and restartPolicy: Never, which it needs.",
  sources: ["Kubernetes: Jobs, pod failure policy", "Kubernetes: pod disruption conditions"],
  *template({ template, placement }) {
    const { jobSpec, object } = template;
    if (!jobSpec || areEvictionsForgiven(template)) return;
    // Inside a JobSet its own policy decides, and another rule looks at that.
    if (object.kind === "JobSet") return;
    const limit = jobSpec.get("backoffLimit");
    const perIndex = jobSpec.get("backoffLimitPerIndex");
    if (limit?.number === 0 || (limit && limit.number === undefined)) return;
    if ((limit?.number ?? 0) >= 1000 || (perIndex?.number ?? 0) >= 1000) return;
    const spot = severityBy(placement.reach.spot.verdict, { must: "error", may: "warning" });
    const severity = spot ?? severityBy(placement.reach.flexStart.verdict, { must: "info", may: "info" });
    if (!severity) return;
    const failures = (perIndex?.number ?? limit?.number ?? 6) + 1;
    yield {
      at: limit ?? perIndex ?? template.object.node.get("kind") ?? jobSpec,
      severity,
      message: perIndex
        ? `an index of ${nameOf(template)} fails at its ${ordinal(failures)} eviction: evictions count as failures`
        : `${nameOf(template)} fails at the ${ordinal(failures)} eviction: evictions count as failures${limit ? "" : " and backoffLimit is 6 unless set"}`,
      related: because(spot ? placement.reach.spot : placement.reach.flexStart),
      fix: policyFix(jobSpec, template.spec),
    };
  },
};

/** The policy that forgives evictions, with the restart policy that it needs. */
function policyFix(jobSpec: Node, podSpec: Node): ReturnType<typeof fixOf> {
  if (jobSpec.get("podFailurePolicy")) return undefined;
  const policy = "rules:\n  - action: Ignore\n    onPodConditions:\n      - type: DisruptionTarget";
  const add = addEntry(jobSpec, "podFailurePolicy", policy, jobSpec.entry("template"));
  const restart = podSpec.get("restartPolicy");
  const never = restart
    ? restart.text === "Never"
      ? []
      : [replaceValue(restart, "Never")]
    : [addEntry(podSpec, "restartPolicy", "Never")];
  return fixOf("unsafe", "ignore evictions (podFailurePolicy), restartPolicy Never", add, ...never);
}

/** 7 → 7th. */
export function ordinal(n: number): string {
  const last = n % 10;
  const isTeen = Math.floor(n / 10) % 10 === 1;
  return `${n}${isTeen ? "th" : last === 1 ? "st" : last === 2 ? "nd" : last === 3 ? "rd" : "th"}`;
}
