import type { Rule } from "../rule.ts";
import { checkpointsOn } from "./shared/checkpoint-rule.ts";

export const ckptOnContainerFs: Rule = {
  id: "ckpt-on-container-fs",
  title: "Checkpoints go to the container's own file system",
  severity: "error",
  why: "A path under no mount lives in the container's writable layer. It is gone as soon as the container is, even when the pod merely restarts it.",
  fix: "Mount a PersistentVolumeClaim or a bucket there, or run the program under `outlast run --store gs://…`.",
  sources: ["Kubernetes: volumes, background"],
  template: (placed, context) =>
    checkpointsOn(
      "containerFs",
      placed,
      context,
      (path) =>
        `no volume is mounted at ${path}: checkpoints are gone with the container, and the work starts over at step 0`,
    ),
};
