import { keys } from "../facts/keys.ts";
import { nameOf, type Rule } from "../rule.ts";
import { areEvictionsForgiven, selects } from "./shared/work.ts";

export const computeclassActiveMigrationVsJob: Rule = {
  id: "computeclass-active-migration-vs-job",
  title: "The ComputeClass evicts running jobs to move them",
  severity: "error",
  why: "activeMigration.optimizeRulePriority moves pods to a better rule as soon as one is free, by evicting them. A long job is thrown out in the middle of its work, on on-demand nodes too.",
  fix: "Take activeMigration out of the class that long jobs use, or give them their own class.",
  sources: ["GKE: ComputeClass, active migration"],
  *template({ template, placement }, context) {
    const migration = placement.computeClass?.migration;
    if (!migration || template.nature !== "job") return;
    const isSafe = template.metadata?.get("annotations", keys.safeToEvict)?.text === "false";
    const hasBudget = context
      .ofKind("PodDisruptionBudget")
      .some(({ node }) => selects(node.get("spec", "selector"), template));
    if (isSafe || hasBudget) return;
    const isFatal = template.jobSpec?.get("backoffLimit")?.number === 0 && !areEvictionsForgiven(template);
    yield {
      at: template.spec.get("nodeSelector", keys.computeClass) ?? template.spec,
      severity: isFatal ? "error" : "warning",
      message: `the ComputeClass "${placement.className ?? ""}" evicts ${nameOf(template)} whenever a better rule is free${isFatal ? ", and with backoffLimit 0 the 1st time fails it" : ""}`,
      related: { span: migration, message: "active migration is switched on here" },
    };
  },
};
