import { accelerators, mainContainers } from "../placement/pod-template.ts";
import { runsOutlast, scriptOf, wordsOf } from "../placement/script.ts";
import { because, nameOf, type Rule, severityBy } from "../rule.ts";
import { checkpointPlaces } from "./shared/checkpoint-places.ts";

export const ckptPlaceUnknown: Rule = {
  id: "ckpt-place-unknown",
  title: "Nothing here can keep a checkpoint",
  severity: "warning",
  why: "A job on nodes that are taken away, with an accelerator, without a volume that outlives the pod and without a bucket in its arguments or variables, has nowhere to resume from: each eviction costs all the work since the start.",
  fix: "Give the program a bucket or a PersistentVolumeClaim, or run it under `outlast run --store gs://…`.",
  sources: ["GKE: Spot VMs, storage"],
  *template({ template, placement }, context) {
    if (template.nature !== "job" || accelerators(template) === 0 || template.isRayHead) return;
    const { places, isRemote } = checkpointPlaces(template, context);
    if (isRemote || places.length > 0) return;
    const volumes = template.spec.get("volumes")?.items ?? [];
    const isDurable = volumes.some(
      (one) => one.get("persistentVolumeClaim") || one.get("csi") || one.get("nfs") || one.get("flexVolume"),
    );
    const isCommandKnown = mainContainers(template).every((container) => wordsOf(container).length > 0);
    if (isDurable || !isCommandKnown || mainContainers(template).some(runsOutlast)) return;
    // A quick look at the machine has nothing to save.
    const text = mainContainers(template)
      .map(
        (one) =>
          scriptOf(one, template, context.ofKind)?.text ??
          wordsOf(one)
            .map((word) => word.text)
            .join(" "),
      )
      .join("\n");
    if (
      !/python|torchrun|accelerate|deepspeed|train/.test(text) ||
      /nvidia-smi|vectoradd|bandwidthTest|nccl-tests|all_reduce_perf/i.test(text)
    )
      return;
    const severity = severityBy(placement.interruptible, { must: "warning", may: "info" });
    const reach = placement.reach.spot.verdict === "never" ? placement.reach.flexStart : placement.reach.spot;
    if (!severity) return;
    yield {
      at: template.spec.get("containers") ? (template.spec.entry("containers")?.key ?? template.spec) : template.spec,
      severity,
      confidence: "likely",
      message: `${nameOf(template)} has no volume or bucket that outlives its pod: every eviction starts it over`,
      related: because(reach),
    };
  },
};
