import type { Rule } from "../rule.ts";
import { checkpointsOn } from "./shared/checkpoint-rule.ts";

export const ckptOnGenericEphemeral: Rule = {
  id: "ckpt-on-generic-ephemeral",
  title: "Checkpoints go to a volume that is deleted with the pod",
  severity: "error",
  why: "A generic ephemeral volume looks like a claim, but it belongs to the pod: its PersistentVolumeClaim is deleted together with it. The replacement pod gets a new, empty one.",
  fix: "Name a PersistentVolumeClaim of its own, or use Cloud Storage.",
  sources: ["Kubernetes: ephemeral volumes"],
  template: (placed, context) =>
    checkpointsOn(
      "ephemeral",
      placed,
      context,
      (path) =>
        `checkpoints in ${path} are on an ephemeral volume: its claim is deleted with the pod, and the work starts over at step 0`,
    ),
};
