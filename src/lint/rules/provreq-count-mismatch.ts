import { keys } from "../facts/keys.ts";
import { nameOf, type Rule } from "../rule.ts";
import { isSameNamespace } from "./shared/work.ts";

export const provreqCountMismatch: Rule = {
  id: "provreq-count-mismatch",
  title: "The request books fewer pods than the Job starts",
  severity: "error",
  why: "Queued provisioning gives exactly what the ProvisioningRequest asks for. Pods beyond its count find no node, and a job that needs all of them waits on nodes that are already paid for.",
  fix: "Make podSets[].count equal to the Job's parallelism.",
  sources: ["GKE: flex-start with queued provisioning"],
  *template({ template }, context) {
    const name =
      template.metadata?.get("annotations", keys.consumeRequest)?.text ??
      template.metadata?.get("annotations", keys.oldConsumeRequest)?.text;
    const request = context
      .ofKind("ProvisioningRequest")
      .find((one) => one.name === name && isSameNamespace(one.namespace, template.object.namespace));
    const wanted = template.jobSpec?.get("parallelism")?.number ?? 1;
    if (!name || !request || !template.jobSpec || template.object.kind !== "Job") return;
    const counts = request.node.get("spec", "podSets")?.items.map((set) => set.get("count")) ?? [];
    const booked = counts.reduce((sum, count) => sum + (count?.number ?? 0), 0);
    if (counts.some((count) => count?.number === undefined) || booked >= wanted) return;
    yield {
      at: template.jobSpec.get("parallelism") ?? template.jobSpec,
      message: `${nameOf(template)} starts ${wanted} pods, the ProvisioningRequest "${name}" books ${booked}`,
      related: counts[0] ? { span: counts[0], message: "the count" } : undefined,
    };
  },
};
