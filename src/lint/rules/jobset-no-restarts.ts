import { addEntry, fixOf } from "../fix/edits.ts";
import { because, type Rule, severityBy } from "../rule.ts";
import { forgivesEviction, policyRules } from "./shared/work.ts";

export const jobsetNoRestarts: Rule = {
  id: "jobset-no-restarts",
  title: "The first failed job fails the whole JobSet",
  severity: "error",
  why: "Without a failurePolicy, or with maxRestarts 0, one evicted pod that fails its Job fails the JobSet: all other workers are stopped and nothing starts again.",
  fix: "Add a failurePolicy with maxRestarts, and best a rule RestartJobSetAndIgnoreMaxRestarts for jobs that failed by a PodFailurePolicy on DisruptionTarget.",
  sources: ["JobSet: failure policy"],
  *run(context) {
    for (const object of context.ofKind("JobSet")) {
      const own = context.templates.filter(({ template }) => template.object === object);
      const worst =
        own.find(({ placement }) => placement.reach.spot.verdict === "must") ??
        own.find(({ placement }) => placement.interruptible === "must") ??
        own.find(({ placement }) => placement.interruptible === "may");
      const policy = object.node.get("spec", "failurePolicy");
      const rules = policy?.get("rules")?.items ?? [];
      const forgives = rules.some((rule) =>
        /RestartJobSetAndIgnoreMaxRestarts|RestartJobSet/.test(rule.get("action")?.text ?? ""),
      );
      if ((policy?.get("maxRestarts")?.number ?? 0) > 0 || (forgives && (policy?.get("maxRestarts")?.number ?? 1) > 0))
        continue;
      if (rules.some((rule) => rule.get("action")?.text === "RestartJobSetAndIgnoreMaxRestarts")) continue;
      // Jobs that forgive evictions themselves replace single pods.
      if (
        own.length > 0 &&
        own.every(({ template }) => template.jobSpec && policyRules(template.jobSpec).some(forgivesEviction))
      )
        continue;
      const isSpot = worst?.placement.reach.spot.verdict === "must";
      const severity = worst
        ? severityBy(worst.placement.interruptible, { must: isSpot ? "error" : "warning", may: "warning" })
        : undefined;
      if (!severity || !worst) continue;
      const spec = object.node.get("spec");
      yield {
        at: policy?.get("maxRestarts") ?? object.node.entry("spec")?.key ?? object.node,
        severity,
        message: `the 1st job that an eviction fails ends JobSet "${object.name}": ${policy ? "maxRestarts is 0" : "it has no failurePolicy"}`,
        related: because(worst.placement.reach.spot),
        fix:
          policy || !spec
            ? undefined
            : fixOf(
                "unsafe",
                "add a failurePolicy with maxRestarts 10",
                addEntry(
                  spec,
                  "failurePolicy",
                  "# Restarts of the whole JobSet; raise it with the length of the run.\nmaxRestarts: 10",
                  spec.entry("replicatedJobs"),
                ),
              ),
      };
    }
  },
};
