import { keys } from "../facts/keys.ts";
import { requested } from "../placement/pod-template.ts";
import { nameOf, type Rule } from "../rule.ts";
import { closest } from "./shared/closest.ts";
import { isSameNamespace } from "./shared/work.ts";

export const kueueResourceNotCovered: Rule = {
  id: "kueue-resource-not-covered",
  title: "The queue has no quota for what the Job asks for",
  severity: "error",
  why: "A ClusterQueue admits only resources that its coveredResources list, up to their quota. A job that asks for another, or for more than there ever is, stays suspended for ever.",
  fix: "Add the resource to the ClusterQueue, raise its quota, or ask for less.",
  sources: ["Kueue: ClusterQueue"],
  *template({ template }, context) {
    const label = template.object.node.get("metadata", "labels", keys.kueueQueue);
    if (!label) return;
    const named = context
      .ofKind("LocalQueue")
      .filter(({ name, namespace }) => name === label.text && isSameNamespace(namespace, template.object.namespace));
    const [local] = closest(named, label);
    const clusterName = local?.node.get("spec", "clusterQueue")?.text;
    const [cluster] = closest(
      context.ofKind("ClusterQueue").filter(({ name }) => name === clusterName),
      label,
    );
    const groups = cluster?.node.get("spec", "resourceGroups")?.items ?? [];
    if (!cluster || groups.length === 0) return;
    for (const resource of ["nvidia.com/gpu", "google.com/tpu"]) {
      const perPod = requested(template, resource);
      if (perPod === 0) continue;
      const group = groups.find((one) => one.get("coveredResources")?.strings.includes(resource));
      if (!group) {
        yield {
          at: label,
          message: `the ClusterQueue "${cluster.name}" does not cover ${resource}: ${nameOf(template)} stays suspended`,
          related: { span: cluster.node, message: "the queue" },
        };
        continue;
      }
      const pods =
        (template.jobSpec?.get("parallelism")?.number ?? 1) * (template.replicatedJob?.get("replicas")?.number ?? 1);
      const quotas = (group.get("flavors")?.items ?? []).map((flavor) =>
        flavor.get("resources")?.items.find((one) => one.get("name")?.text === resource),
      );
      const total = quotas.map((one) => one?.get("nominalQuota")?.number);
      // A cohort may lend more than the queue has.
      if (
        total.some((one) => one === undefined) ||
        cluster.node.get("spec", "cohort") ||
        cluster.node.get("spec", "cohortName")
      )
        continue;
      const most = Math.max(0, ...total.map((one) => one ?? 0));
      if (pods * perPod > most)
        yield {
          at: label,
          message: `${nameOf(template)} asks for ${pods * perPod} ${resource}, the largest quota of "${cluster.name}" is ${most}: it stays suspended`,
          related: quotas[0] ? { span: quotas[0], message: "the quota" } : undefined,
        };
    }
  },
};
