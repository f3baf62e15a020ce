import { because, type Rule, severityBy } from "../rule.ts";

export const nakedPodInterruptible: Rule = {
  id: "naked-pod-interruptible",
  title: "A bare Pod is not started again after an eviction",
  severity: "error",
  why: "A Pod without a controller belongs to its node. When the node is taken the pod is gone, and nothing makes a new one.",
  fix: "Make it a Job, or a Deployment if it serves.",
  sources: ["Kubernetes: pods, working with pods"],
  *template({ template, placement }) {
    if (template.object.kind !== "Pod") return;
    // A template of a test or a debugging session says so by its owner or its end.
    if (template.object.node.get("metadata", "ownerReferences")) return;
    const severity = severityBy(placement.interruptible, {
      must: placement.reach.spot.verdict === "never" ? "warning" : "error",
      may: "warning",
    });
    if (!severity) return;
    const reach = placement.reach.spot.verdict === "never" ? placement.reach.flexStart : placement.reach.spot;
    yield {
      at: template.object.node.get("kind") ?? template.object.node,
      severity,
      message: `Pod "${template.object.name}" has no controller: after the first eviction nothing starts it again`,
      related: because(reach),
    };
  },
};
