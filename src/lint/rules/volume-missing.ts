import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const volumeMissing: Rule = {
  id: "volume-missing",
  title: "A mount names a volume that is not there",
  severity: "error",
  why: "The API server refuses a pod whose volumeMounts name a volume that neither volumes nor volumeClaimTemplates declare.",
  fix: "Declare the volume, or correct the name.",
  sources: ["Kubernetes: core validation"],
  *template({ template }) {
    // Operators of these kinds add volumes of their own, and patches hold parts only.
    if (!/^(?:Job|CronJob|Deployment|StatefulSet|DaemonSet|Pod|JobSet)$/.test(template.object.kind)) return;
    // A JobSet can have claims of its own.
    if (template.object.node.get("spec", "volumeClaimPolicies")) return;
    const claims = template.holder?.get("volumeClaimTemplates")?.items ?? [];
    const known = [
      ...(template.spec.get("volumes")?.items ?? []).flatMap((one) => one.get("name")?.text ?? []),
      ...claims.flatMap((one) => one.get("metadata", "name")?.text ?? []),
    ];
    for (const { node } of template.containers) {
      for (const mount of node.get("volumeMounts")?.items ?? []) {
        const name = mount.get("name");
        if (!name?.text || known.includes(name.text) || /[$<{]/.test(name.text) || name.text.startsWith("gke-gcsfuse-"))
          continue;
        const near = nearest(name.text, known, 2);
        yield {
          at: name,
          message: `no volume is called "${name.text}"${near ? `; did you mean "${near}"?` : ""}: the API server refuses the pod`,
          fix: near ? fixOf("safe", `write ${near}`, replaceValue(name, near)) : undefined,
        };
      }
    }
  },
};
