import type { Rule } from "../rule.ts";
import { checkpointsOn } from "./shared/checkpoint-rule.ts";

export const ckptOnEmptydir: Rule = {
  id: "ckpt-on-emptydir",
  title: "Checkpoints go to an emptyDir, which dies with the pod",
  severity: "error",
  why: "An emptyDir is deleted when its pod leaves the node. After an eviction the replacement starts on another node with an empty directory, at step 0.",
  fix: "Write to Cloud Storage or a PersistentVolumeClaim, or keep the directory and run the program under `outlast run --store gs://…`, which ships what is written there.",
  sources: ["Kubernetes: volumes, emptyDir", "GKE: Spot VMs, storage"],
  template: (placed, context) =>
    checkpointsOn(
      "emptyDir",
      placed,
      context,
      (path) =>
        `checkpoints in ${path} are on an emptyDir: an eviction deletes them and the work starts over at step 0`,
    ),
};
