import { keys } from "../facts/keys.ts";
import { requested } from "../placement/pod-template.ts";
import type { Rule } from "../rule.ts";

export const tpuMultisliceExclusiveTopology: Rule = {
  id: "tpu-multislice-exclusive-topology",
  title: "Slices of a multi-slice job may share a node pool",
  severity: "warning",
  why: "A multi-host TPU slice is one node pool, and each replica of the job needs one for itself. Without the exclusive-topology annotation pods of two replicas can be spread over the same slices: each waits for hosts that the other holds.",
  fix: "Annotate the JobSet with alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool.",
  sources: ["GKE: TPU multislice", "JobSet: exclusive job to topology placement"],
  *template({ template }) {
    const { object, replicatedJob, jobSpec, metadata } = template;
    const replicas = replicatedJob?.get("replicas");
    if (object.kind !== "JobSet" || (replicas?.number ?? 1) < 2 || (jobSpec?.get("parallelism")?.number ?? 1) < 2)
      return;
    if (requested(template, "google.com/tpu") === 0 || !replicas) return;
    const places = [object.node.get("metadata"), replicatedJob?.get("template", "metadata"), metadata];
    if (places.some((meta) => meta?.get("annotations", keys.exclusiveTopology))) return;
    yield {
      at: replicas,
      message: `${replicas.number ?? 0} slices without ${keys.exclusiveTopology}: pods of one may take hosts of another, and both wait for ever`,
    };
  },
};
