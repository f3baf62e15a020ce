import type { Report, Rule } from "../rule.ts";

export const computeclassInvalid: Rule = {
  id: "computeclass-invalid",
  title: "A ComputeClass rule that the API server refuses",
  severity: "error",
  why: "The class's own validation refuses some combinations: flex-start with Spot, a family with a type, a type with minimum cores, node pools with a shape, scores on some rules only.",
  fix: "Correct the rule as the message says.",
  sources: ["ComputeClass API: validation rules"],
  *object(object) {
    if (object.kind !== "ComputeClass" || object.group !== "cloud.google.com") return;
    const rules = object.node.get("spec", "priorities")?.items ?? [];
    for (const rule of rules) {
      const clash = (a: string, b: string): Report | undefined => {
        const [first, second] = [rule.entry(a), rule.entry(b)];
        return first && second
          ? { at: second.key, message: `${a} and ${b} cannot stand in one rule: the API server refuses the class` }
          : undefined;
      };
      if (rule.get("flexStart", "enabled")?.isTrue && rule.get("spot")?.isTrue)
        yield {
          at: rule.get("spot") ?? rule,
          message: "flexStart and spot: true cannot stand in one rule: the API server refuses the class",
        };
      for (const report of [
        clash("machineFamily", "machineType"),
        clash("machineType", "minCores"),
        clash("machineType", "minMemoryGb"),
      ])
        if (report) yield report;
      const other = rule.get("nodepools")
        ? rule.entries.find(({ name }) => !["nodepools", "allocationStrategy", "priorityScore"].includes(name))
        : undefined;
      if (other)
        yield {
          at: other.key,
          message: `nodepools and ${other.name} cannot stand in one rule: the API server refuses the class`,
        };
      const wait = rule.get("capacityCheckWaitTimeSeconds");
      if (wait && !rule.get("flexStart") && !rule.get("tpu"))
        yield {
          at: wait,
          message: "capacityCheckWaitTimeSeconds goes with flexStart or tpu only: the API server refuses the class",
        };
      const grace = rule.get("nodeSystemConfig", "kubeletConfig", "shutdownGracePeriodSeconds");
      if (grace && !rule.get("spot")?.isTrue)
        yield {
          at: grace,
          message: "shutdownGracePeriodSeconds needs spot: true in the same rule: the API server refuses the class",
        };
      if (grace?.number !== undefined && ![0, 30, 120].includes(grace.number))
        yield { at: grace, message: `shutdownGracePeriodSeconds is 0, 30 or 120, not ${grace.number}` };
    }
    const scored = rules.filter((rule) => rule.get("priorityScore"));
    const [first] = scored;
    if (first && scored.length < rules.length)
      yield {
        at: first.get("priorityScore") ?? first,
        message: `${scored.length} of ${rules.length} rules have a priorityScore: all or none must`,
      };
  },
};
