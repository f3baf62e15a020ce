import { mainContainers } from "../placement/pod-template.ts";
import { type Rule, severityBy } from "../rule.ts";

export const imageMutableTag: Rule = {
  id: "image-mutable-tag",
  title: "A restart after an eviction may run another program",
  severity: "warning",
  why: "A tag such as latest moves. A job that is evicted and started again may get a newer image in the middle of its run: checkpoints that do not load, results of two versions mixed, workers that do not agree.",
  fix: "Name a version or, better, a digest.",
  sources: ["Kubernetes: images, image names"],
  *template({ template, placement }) {
    if (template.nature !== "job") return;
    const severity = severityBy(placement.interruptible, {
      must: placement.reach.spot.verdict === "never" ? "info" : "warning",
      may: "info",
    });
    if (!severity) return;
    for (const container of mainContainers(template)) {
      const { image, node } = container;
      const at = node.get("image");
      if (!at || image.includes("@") || /[$<{]/.test(image) || image === "") continue;
      const tag = /:([\w.-]+)$/.exec(image.slice(image.lastIndexOf("/") + 1))?.[1];
      if (tag !== undefined && !/^(?:latest|main|master|nightly|dev|edge|stable)$|-latest$/.test(tag)) continue;
      yield {
        at,
        severity,
        message: `${tag === undefined ? "no tag means latest, which" : `the tag ${tag}`} moves: after an eviction the run may continue with another image`,
      };
    }
  },
};
