import { keys } from "../facts/keys.ts";
import { nameOf, type Rule } from "../rule.ts";

export const flexstartDurationDefault: Rule = {
  id: "flexstart-duration-default",
  title: "A flex-start job without a maximum run duration asks for 7 days",
  severity: "info",
  why: "A shorter request is easier to place: capacity that is free for a day does not serve a request of seven. Without a duration the request is for 7 days.",
  fix: "Say how long the node is needed: the node selector cloud.google.com/gke-max-run-duration-seconds, or maxRunDurationSeconds in the ComputeClass.",
  sources: ["GKE: flex-start provisioning mode"],
  *template({ template, placement }) {
    if (template.nature !== "job" || placement.reach.flexStart.verdict !== "must" || placement.computeClass) return;
    if (
      template.spec.get("nodeSelector", keys.maxRunDuration) ||
      placement.candidates.some(({ maxRunSeconds }) => maxRunSeconds !== undefined)
    )
      return;
    // A pool that is declared elsewhere, or a queue, has the duration in its own place.
    if (
      template.spec.get("nodeSelector", keys.nodePool) ||
      template.object.node.get("metadata", "labels", keys.kueueQueue)
    )
      return;
    yield {
      at: template.spec.entry("nodeSelector")?.key ?? template.spec,
      message: `${nameOf(template)} asks for flex-start nodes of 7 days, the default; a shorter request is placed sooner`,
    };
  },
};
