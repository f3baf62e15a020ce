import type { Rule } from "../rule.ts";

export const graceOverDrainCap: Rule = {
  id: "grace-over-drain-cap",
  title: "A grace period longer than the autoscaler waits",
  severity: "warning",
  why: "When the cluster autoscaler removes a node it waits at most 10 minutes for a pod, and a node upgrade waits at most one hour. What a program hopes to finish after that is lost.",
  fix: 'Save within 10 minutes, or keep the autoscaler away with the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false" and plan for one hour.',
  sources: ["Kubernetes autoscaler FAQ: graceful termination in scale-down", "GKE: node upgrades and surge"],
  *template({ template, placement }) {
    const grace = template.spec.get("terminationGracePeriodSeconds");
    const asked = grace?.number ?? 0;
    // On Spot far less arrives anyway, and another rule says so.
    if (!grace || asked <= 600 || placement.reach.spot.verdict === "must" || placement.reach.spot.verdict === "may")
      return;
    const isKept =
      template.metadata?.get("annotations", "cluster-autoscaler.kubernetes.io/safe-to-evict")?.text === "false";
    if (isKept && asked <= 3600) return;
    const cap = isKept ? 3600 : 600;
    yield {
      at: grace,
      message: `${isKept ? "a node upgrade" : "autoscaler scale-down"} waits ${cap} s of the ${asked} s you asked for`,
    };
  },
};
