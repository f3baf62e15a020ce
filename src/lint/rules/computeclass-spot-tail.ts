import type { Rule } from "../rule.ts";
import { isInference, replicasOf } from "./shared/work.ts";

export const computeclassSpotTail: Rule = {
  id: "computeclass-spot-tail",
  title: "A single replica falls back to Spot when other capacity is out",
  severity: "warning",
  why: "The class lists Spot last, so that it is used when everything else is out. That is when Spot is scarce, too: the one replica is evicted again and again while nothing else can take it.",
  fix: "Run two replicas, or leave Spot out of this class; a class for serving ends on capacity that stays.",
  sources: ["GKE: ComputeClass priorities", "GKE: Spot VMs"],
  *template({ template, placement }, context) {
    const { computeClass } = placement;
    const last = computeClass?.rules.at(-1);
    if (!computeClass || last?.capacity !== "spot" || computeClass.rules.every(({ capacity }) => capacity === "spot"))
      return;
    if (!isInference(template) || replicasOf(template, context) !== 1) return;
    yield {
      at: template.holder?.get("replicas") ?? template.object.node.get("kind") ?? template.node,
      message: `1 replica, and the ComputeClass "${computeClass.name}" ends on Spot: when other capacity is out it is evicted with nothing to take its place`,
      related: { span: last.node, message: "the last rule" },
    };
  },
};
