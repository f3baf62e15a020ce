import { because, nameOf, type Rule } from "../rule.ts";

export const flexstartServing: Rule = {
  id: "flexstart-serving",
  title: "A service on flex-start nodes that all end together",
  severity: "warning",
  why: "Flex-start nodes end after their maximum run duration, 7 days at most. Nodes that came together go together, and the service goes with them unless replacements are brought before.",
  fix: "Use a ComputeClass with flexStart.nodeRecycling.leadTimeSeconds, or serve from on-demand or Spot nodes.",
  sources: ["GKE: flex-start, node recycling"],
  *template({ template, placement }) {
    if (
      template.nature !== "serving" ||
      template.object.kind === "RayCluster" ||
      placement.reach.flexStart.verdict !== "must"
    )
      return;
    if (placement.computeClass?.rules.some(({ hasRecycling }) => hasRecycling)) return;
    yield {
      at: template.object.node.get("kind") ?? template.node,
      message: `${nameOf(template)} serves from flex-start nodes: after 7 days at most they are gone, all that came together at once`,
      related: because(placement.reach.flexStart),
    };
  },
};
