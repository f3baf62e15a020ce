import { fixOf, replaceValue } from "../fix/edits.ts";
import { nameOf, type Rule } from "../rule.ts";
import { isTraining } from "./shared/work.ts";

export const graceZero: Rule = {
  id: "grace-zero",
  title: "A grace period of 0 kills at once",
  severity: "error",
  why: "With terminationGracePeriodSeconds 0 every eviction, drain and deletion is a SIGKILL without a SIGTERM before it: no program can save or hand back anything.",
  fix: "Give it at least the 15 s that a Spot node leaves.",
  sources: ["Kubernetes: pod lifecycle, termination of pods"],
  *template({ template }, context) {
    const grace = template.spec.get("terminationGracePeriodSeconds");
    if (grace?.number !== 0 || template.nature === "daemon") return;
    const isJob = isTraining(template, context);
    yield {
      at: grace,
      severity: isJob ? "error" : "warning",
      message: `0 s of grace: ${nameOf(template)} gets SIGKILL and never a SIGTERM, so nothing can be saved`,
      fix: fixOf("unsafe", "set it to 15", replaceValue(grace, "15")),
    };
  },
};
