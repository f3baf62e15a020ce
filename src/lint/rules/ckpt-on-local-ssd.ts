import type { Rule } from "../rule.ts";
import { checkpointsOn } from "./shared/checkpoint-rule.ts";

export const ckptOnLocalSsd: Rule = {
  id: "ckpt-on-local-ssd",
  title: "Checkpoints go to a local volume, which is lost with the node",
  severity: "error",
  why: "Local SSDs and local persistent volumes belong to one machine. When a Spot or flex-start machine goes, so does all that is on them.",
  fix: "Use the local disk as a cache only, and ship checkpoints to Cloud Storage (`outlast run --store gs://…`) or a network volume.",
  sources: ["GKE: local SSD storage", "GKE: Spot VMs, storage"],
  template: (placed, context) =>
    checkpointsOn(
      "local",
      placed,
      context,
      (path) => `checkpoints in ${path} are on a local volume: it is lost with the node`,
    ),
};
