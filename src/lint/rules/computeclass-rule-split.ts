import type { Rule } from "../rule.ts";

const shapes = ["machineType", "machineFamily", "gpu", "tpu", "minCores", "minMemoryGb", "podFamily"];

export const computeclassRuleSplit: Rule = {
  id: "computeclass-rule-split",
  title: "A ComputeClass rule says Spot but not on which machine",
  severity: "error",
  why: "Each entry of priorities is a whole rule. `- spot: true` next to `- machineType: …` means: first any machine at all on Spot, then that machine on demand. With a dash too many, a GPU job gets a node without a GPU, or none.",
  fix: "Join the two entries into one.",
  sources: ["GKE: ComputeClass priorities"],
  *object(object) {
    if (object.kind !== "ComputeClass") return;
    const rules = object.node.get("spec", "priorities")?.items ?? [];
    const hasShape = rules.some((rule) => shapes.some((key) => rule.get(key)));
    for (const rule of rules) {
      const isBare =
        rule.entries.length > 0 &&
        rule.entries.every(({ name }) => ["spot", "flexStart", "maxRunDurationSeconds"].includes(name));
      const hasDefaults = object.node.get("spec", "priorityDefaults") !== undefined;
      if (isBare && hasShape && !hasDefaults)
        yield {
          at: rule,
          message: `this rule names no machine while others do: it stands for any machine on ${rule.get("spot") ? "Spot" : "flex-start"}. Is the dash before it one too many?`,
        };
    }
  },
};
