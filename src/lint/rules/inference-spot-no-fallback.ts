import { because, nameOf, type Rule } from "../rule.ts";
import { isInference, replicasOf } from "./shared/work.ts";

export const inferenceSpotNoFallback: Rule = {
  id: "inference-spot-no-fallback",
  title: "All serving replicas are on Spot, without a fallback",
  severity: "warning",
  why: "When Spot capacity of that shape runs out in a zone, all replicas can go within minutes and none comes back until it returns.",
  fix: "Use a ComputeClass with Spot first and on-demand after it, or keep a small on-demand share.",
  sources: ["GKE: ComputeClass priorities", "GKE: Spot VMs"],
  *template({ template, placement }, context) {
    if (!isInference(template) || template.object.kind === "RayCluster" || placement.reach.spot.verdict !== "must")
      return;
    const replicas = replicasOf(template, context);
    if (replicas === undefined || replicas < 2) return;
    // A second controller of the same app on other nodes is the fallback.
    const app = template.metadata?.get("labels", "app")?.text;
    const others = context.templates.some(
      (one) =>
        one.template !== template &&
        app !== undefined &&
        one.template.metadata?.get("labels", "app")?.text === app &&
        one.placement.reach.spot.verdict !== "must",
    );
    if (others) return;
    yield {
      at: template.holder?.get("replicas") ?? template.object.node.get("kind") ?? template.node,
      message: `all ${replicas} replicas of ${nameOf(template)} are on Spot and nothing else can take them when Spot runs out`,
      related: because(placement.reach.spot),
    };
  },
};
