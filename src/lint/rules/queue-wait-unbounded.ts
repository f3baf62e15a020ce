import { keys } from "../facts/keys.ts";
import { nameOf, type Rule } from "../rule.ts";

export const queueWaitUnbounded: Rule = {
  id: "queue-wait-unbounded",
  title: "A Job may wait for capacity for ever, unseen",
  severity: "info",
  why: "Flex-start and queued requests wait until capacity comes, for GPUs up to days. A Job without activeDeadlineSeconds stays Pending as long as it takes, and nothing fails that an alert could see.",
  fix: "Set activeDeadlineSeconds (it counts waiting time), or alert on pending pods; `outlast watch` tells how long they wait and why.",
  sources: ["Kubernetes: Jobs, termination and cleanup", "GKE: flex-start provisioning mode"],
  *template({ template, placement }) {
    const { jobSpec, object } = template;
    if (!jobSpec || object.kind !== "Job" || placement.reach.flexStart.verdict !== "must") return;
    if (jobSpec.get("activeDeadlineSeconds") || jobSpec.get("suspend")?.isTrue) return;
    const isQueued = object.node.get("metadata", "labels", keys.kueueQueue) !== undefined;
    if (isQueued) return;
    yield {
      at: template.object.node.get("kind") ?? jobSpec,
      message: `${nameOf(template)} waits for flex-start capacity without a deadline: it can stay Pending for ever and nothing fails`,
    };
  },
};
