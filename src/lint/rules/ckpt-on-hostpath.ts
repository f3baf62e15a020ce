import type { Rule } from "../rule.ts";
import { checkpointsOn } from "./shared/checkpoint-rule.ts";

export const ckptOnHostpath: Rule = {
  id: "ckpt-on-hostpath",
  title: "Checkpoints go to a hostPath, which stays on the lost node",
  severity: "error",
  why: "A hostPath is a folder of one node. The replacement pod runs on another node and finds nothing; a Spot node that is taken is gone with its disk.",
  fix: "Write to Cloud Storage or a PersistentVolumeClaim, or run the program under `outlast run --store gs://…`.",
  sources: ["Kubernetes: volumes, hostPath", "GKE: Spot VMs, storage"],
  template: (placed, context) =>
    checkpointsOn(
      "hostPath",
      placed,
      context,
      (path) => `checkpoints in ${path} are on the node's own disk: the next node does not have them`,
    ),
};
