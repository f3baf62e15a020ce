import { because, nameOf, type Rule } from "../rule.ts";
import { isInference, replicasOf } from "./shared/work.ts";

export const inferenceSingleReplicaOnSpot: Rule = {
  id: "inference-single-replica-on-spot",
  title: "One serving replica, on Spot only",
  severity: "error",
  why: "With one replica each eviction is an outage: 15 s of notice, then the time for a new Spot node (if there is one), the image and the model.",
  fix: "Run at least two replicas over several zones, and let a ComputeClass fall back to on-demand.",
  sources: ["GKE: Spot VMs, best practices"],
  *template({ template, placement }, context) {
    if (!isInference(template) || template.object.kind === "RayCluster" || placement.reach.spot.verdict !== "must")
      return;
    const replicas = replicasOf(template, context);
    if (replicas !== 1) return;
    yield {
      at: template.holder?.get("replicas") ?? template.object.node.get("kind") ?? template.node,
      message: `${nameOf(template)} serves from 1 replica, on Spot only: every eviction is an outage until another Spot node, image and model are there`,
      related: because(placement.reach.spot),
    };
  },
};
