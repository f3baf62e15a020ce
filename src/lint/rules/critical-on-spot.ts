import { mainContainers } from "../placement/pod-template.ts";
import { because, nameOf, type Rule, severityBy } from "../rule.ts";
import { criticalImages } from "./shared/work.ts";

export const criticalOnSpot: Rule = {
  id: "critical-on-spot",
  title: "A controller, database or queue runs on nodes that are taken away",
  severity: "error",
  why: "When the operator, queue or database that everything else waits for is evicted together with its workers, nothing brings the workers back: the control plane of the work starves. Spot capacity can stay away for hours.",
  fix: "Keep it on an on-demand pool: select one, and do not tolerate the Spot taint.",
  sources: ["GKE: Spot VMs, best practices"],
  *template({ template, placement }) {
    if (template.nature === "job" || template.nature === "daemon" || template.nature === "pod") return;
    const severity = severityBy(placement.reach.spot.verdict, { must: "error", may: "warning" });
    if (!severity) return;
    const priority = template.spec.get("priorityClassName");
    const isSystem = /^system-(?:cluster|node)-critical$/.test(priority?.text ?? "");
    const container = mainContainers(template).find(({ image }) => criticalImages.test(image));
    if (!isSystem && !container) return;
    const what = container ? `the image ${container.image}` : `priority ${priority?.text ?? ""}`;
    yield {
      at: container?.node.get("image") ?? priority ?? template.spec,
      severity,
      confidence: isSystem ? "certain" : "likely",
      message: `${nameOf(template)} (${what}) ${placement.reach.spot.verdict === "must" ? "runs" : "may run"} on Spot: when it is evicted, all that waits for it stands still`,
      related: because(placement.reach.spot),
    };
  },
};
