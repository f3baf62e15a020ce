import { addEntry, fixOf } from "../fix/edits.ts";
import { mainContainers } from "../placement/pod-template.ts";
import { runsOutlast } from "../placement/script.ts";
import { because, type Rule, severityBy } from "../rule.ts";
import { checkpointPlaces } from "./shared/checkpoint-places.ts";

export const jobTwoWriters: Rule = {
  id: "job-two-writers",
  title: "A replacement may start while the old pod still writes",
  severity: "warning",
  why: "Without podReplacementPolicy: Failed (which podFailurePolicy implies) a Job replaces a pod as soon as its deletion begins. For the length of the grace period two pods of the same index write the same checkpoint directory, and the older one may overwrite the newer's.",
  fix: "Set podReplacementPolicy: Failed.",
  sources: ["Kubernetes: Jobs, pod replacement policy"],
  *template({ template, placement }, context) {
    const { jobSpec } = template;
    if (!jobSpec || jobSpec.get("podFailurePolicy") || jobSpec.get("podReplacementPolicy")?.text === "Failed") return;
    // outlast fences an older start: it can no longer commit.
    if (mainContainers(template).some(runsOutlast)) return;
    const shared = checkpointPlaces(template, context).places.find(
      ({ place }) => place.kind === "pvc" || place.kind === "gcsfuse",
    );
    const severity = severityBy(placement.interruptible, { must: "warning", may: "info" });
    if (!shared || !severity) return;
    yield {
      at: jobSpec.get("podReplacementPolicy") ?? template.object.node.get("kind") ?? jobSpec,
      severity,
      message: `for up to ${template.spec.get("terminationGracePeriodSeconds")?.number ?? 30} s an evicted pod and its replacement both write to ${shared.path}`,
      related: because(placement.reach.spot),
      fix: jobSpec.get("podReplacementPolicy")
        ? undefined
        : fixOf(
            "unsafe",
            "set podReplacementPolicy: Failed",
            addEntry(jobSpec, "podReplacementPolicy", "Failed", jobSpec.entry("template")),
          ),
    };
  },
};
