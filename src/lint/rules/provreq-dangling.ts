import { keys } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import type { Rule } from "../rule.ts";
import { isSameNamespace } from "./shared/work.ts";

export const provreqDangling: Rule = {
  id: "provreq-dangling",
  title: "A ProvisioningRequest and its partner do not find each other",
  severity: "error",
  why: "A pod consumes a request, and a request names a PodTemplate, by name within one namespace. A name that is not there leaves the pods Pending or the request refused.",
  fix: "Make the names and namespaces agree.",
  sources: ["Kubernetes autoscaler: ProvisioningRequest API"],
  *template({ template }, context) {
    const node =
      template.metadata?.get("annotations", keys.consumeRequest) ??
      template.metadata?.get("annotations", keys.oldConsumeRequest);
    const requests = context.ofKind("ProvisioningRequest");
    if (!node?.text || requests.length === 0) return;
    const here = requests.filter(({ namespace }) => isSameNamespace(namespace, template.object.namespace));
    if (here.some(({ name }) => name === node.text)) return;
    const near = nearest(
      node.text,
      here.map(({ name }) => name),
      2,
    );
    const elsewhere = requests.find(({ name }) => name === node.text);
    if (!near && !elsewhere) return;
    yield {
      at: node,
      message: elsewhere
        ? `the ProvisioningRequest "${node.text}" is in namespace ${elsewhere.namespace ?? "default"}, the pod in ${template.object.namespace ?? "default"}: it is not found`
        : `there is no ProvisioningRequest "${node.text}"; did you mean "${near ?? ""}"?`,
    };
  },
  *object(object, context) {
    if (object.kind !== "ProvisioningRequest") return;
    for (const set of object.node.get("spec", "podSets")?.items ?? []) {
      const name = set.get("podTemplateRef", "name");
      const known = context
        .ofKind("PodTemplate")
        .filter(({ namespace }) => isSameNamespace(namespace, object.namespace));
      if (!name?.text || known.length === 0 || known.some((one) => one.name === name.text)) continue;
      yield {
        at: name,
        message: `there is no PodTemplate "${name.text}" in namespace ${object.namespace ?? "default"}: the request is refused`,
      };
    }
  },
};
