import { keys } from "../facts/keys.ts";
import { fixOf } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

const renamed: Readonly<Record<string, string>> = {
  [keys.oldConsumeRequest]: keys.consumeRequest,
  [keys.oldRequestClass]: keys.requestClass,
};

export const provreqAnnotationDeprecated: Rule = {
  id: "provreq-annotation-deprecated",
  title: "An old spelling of the ProvisioningRequest annotations",
  severity: "info",
  why: "The annotations moved from cluster-autoscaler.kubernetes.io to autoscaling.x-k8s.io; the old spelling is deprecated.",
  fix: "Use the new keys.",
  sources: ["GKE: flex-start with queued provisioning", "Kubernetes autoscaler: ProvisioningRequest API"],
  *template({ template }) {
    for (const { name, key } of template.metadata?.get("annotations")?.entries ?? []) {
      const next = renamed[name];
      const isBoth = next !== undefined && template.metadata?.get("annotations", next) !== undefined;
      if (next)
        yield {
          at: key,
          message: `${name} is deprecated; the key is now ${next}`,
          fix: isBoth
            ? undefined
            : fixOf("safe", `write ${next}`, { file: key.file, start: key.start, end: key.end, text: next }),
        };
    }
  },
};
