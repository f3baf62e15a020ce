import { nameOf, type Rule } from "../rule.ts";

export const wildcardToleration: Rule = {
  id: "wildcard-toleration",
  title: "A toleration of everything",
  severity: "warning",
  why: "operator: Exists without a key accepts every taint: Spot, queued and GPU pools, nodes under pressure and nodes that are being removed. A gate that looks for the Spot key does not see it.",
  fix: "Name the taints that are meant. DaemonSets that must run everywhere are left alone.",
  sources: ["Kubernetes: taints and tolerations"],
  *template({ template, placement }) {
    if (template.nature === "daemon" || template.nature === "other") return;
    for (const { key, operator, effect, node } of placement.constraints.tolerations) {
      if (key || operator !== "Exists" || effect === "PreferNoSchedule") continue;
      yield {
        at: node,
        message: `${nameOf(template)} tolerates every taint${effect ? ` of effect ${effect}` : ""}: it may land on Spot, queued and GPU nodes alike`,
      };
    }
  },
};
