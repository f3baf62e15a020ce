import { because, type Rule, severityBy } from "../rule.ts";

export const rayHeadOnSpot: Rule = {
  id: "ray-head-on-spot",
  title: "The Ray head runs on nodes that are taken away",
  severity: "error",
  why: "The head holds the cluster's state. When it is evicted every task, actor and object of the cluster is lost, however many workers are still alive.",
  fix: "Put headGroupSpec on an on-demand pool and leave Spot to the workers; for serving, add an external Redis for the state.",
  sources: ["Ray: GCS fault tolerance", "KubeRay: configuration best practices"],
  *template({ template, placement }) {
    if (!template.isRayHead) return;
    const severity = severityBy(placement.interruptible, { must: "error", may: "warning" });
    if (!severity) return;
    const reach = placement.reach.spot.verdict === "never" ? placement.reach.flexStart : placement.reach.spot;
    yield {
      at:
        reach.at && reach.at.file === template.node.file && reach.at.start > template.node.start
          ? reach.at
          : template.node,
      severity,
      message: `the Ray head ${placement.interruptible === "must" ? "runs" : "may run"} on nodes that are taken away: one eviction loses the whole cluster, workers and all`,
      related: because(reach),
    };
  },
};
