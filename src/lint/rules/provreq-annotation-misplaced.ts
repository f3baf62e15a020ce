import { nameOf, type Rule } from "../rule.ts";

export const provreqAnnotationMisplaced: Rule = {
  id: "provreq-annotation-misplaced",
  title: "Kueue reads this annotation on the Job, not on its pods",
  severity: "error",
  why: "Kueue copies provreq.kueue.x-k8s.io/* from the Job, JobSet or Ray object to the ProvisioningRequest. On the pod template nobody reads it: the request asks for the default of 7 days.",
  fix: "Move the annotation to the object's own metadata.",
  sources: ["Kueue: provisioning admission check"],
  *template({ template }) {
    if (template.node === template.object.node) return;
    for (const { name, key } of template.metadata?.get("annotations")?.entries ?? []) {
      if (!name.startsWith("provreq.kueue.x-k8s.io/") || template.object.node.get("metadata", "annotations", name))
        continue;
      yield {
        at: key,
        message: `${name} on the pod template is read by nobody; it belongs on ${nameOf(template)} itself`,
      };
    }
  },
};
