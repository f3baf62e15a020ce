import { keys } from "../facts/keys.ts";
import { mainContainers } from "../placement/pod-template.ts";
import { runsOutlast } from "../placement/script.ts";
import { because, type Rule } from "../rule.ts";

export const safeToEvictOnSpot: Rule = {
  id: "safe-to-evict-on-spot",
  title: "safe-to-evict does not protect from Spot preemption",
  severity: "info",
  why: "The annotation keeps the autoscaler from removing the node. A Spot node is taken by Compute Engine, which does not ask; on Autopilot the extended run time is refused for Spot pods.",
  fix: "Keep it if it is meant for scale-down, and make sure the work survives preemption by itself.",
  sources: ["Kubernetes autoscaler FAQ", "GKE: extended-duration pods"],
  *template({ template, placement }, { supply }) {
    const node = template.metadata?.get("annotations", keys.safeToEvict);
    if (node?.text !== "false" || placement.reach.spot.verdict !== "must") return;
    // Under outlast the work survives preemption by itself; the annotation is about scale-down then.
    if (!supply.isAutopilot && mainContainers(template).some(runsOutlast)) return;
    yield {
      at: node,
      severity: supply.isAutopilot ? "warning" : "info",
      message: 'safe-to-evict "false" does not stop Spot preemption: the node is taken all the same',
      related: because(placement.reach.spot),
    };
  },
};
