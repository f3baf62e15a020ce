import { because, type Rule, severityBy } from "../rule.ts";

export const statefulsetOnSpot: Rule = {
  id: "statefulset-on-spot",
  title: "A StatefulSet with disks runs on nodes that are taken away",
  severity: "warning",
  why: "Each pod waits for its own disk: after an eviction it can start only where that disk can be attached, in its zone, and only after the lost node has let go of it.",
  fix: "Keep stateful services on on-demand nodes, or use replicated storage that does not depend on one disk.",
  sources: ["Kubernetes: StatefulSets", "GKE: Spot VMs"],
  *template({ template, placement }) {
    if (
      template.object.kind !== "StatefulSet" ||
      (template.holder?.get("volumeClaimTemplates")?.items.length ?? 0) === 0
    )
      return;
    const severity = severityBy(placement.reach.spot.verdict, { must: "warning", may: "info" });
    if (severity)
      yield {
        at: template.object.node.get("kind") ?? template.node,
        severity,
        message: `StatefulSet "${template.object.name}" keeps disks and ${placement.reach.spot.verdict === "must" ? "runs" : "may run"} on Spot: each eviction waits for the disk to come free, in its one zone`,
        related: because(placement.reach.spot),
      };
  },
};
