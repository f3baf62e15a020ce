import { systemLabels } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import { fixOf } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const labelKeyTypo: Rule = {
  id: "label-key-typo",
  title: "A node selector names a label that no node has",
  severity: "error",
  why: "A key in Google's or Kubernetes' own domain that neither of them sets matches no node: the pod stays Pending, and auto-provisioning does not understand it.",
  fix: "Correct the key.",
  sources: ["GKE cluster autoscaler: system labels", "Kubernetes: well-known labels"],
  *template({ placement }, { supply }) {
    const declared = new Set(supply.pools.flatMap(({ labels }) => Object.keys(labels)));
    for (const { key, span } of placement.constraints.alternatives.flat()) {
      if (
        !/^(?:cloud\.google\.com|node\.kubernetes\.io|kubernetes\.io|topology\.kubernetes\.io|cloud\.gogle\.com|cloud\.google\.co)\//.test(
          key,
        )
      )
        continue;
      if (systemLabels.includes(key) || declared.has(key)) continue;
      const near = nearest(key, systemLabels, 2);
      if (!near) continue;
      const at = span.file.text.indexOf(key, span.start);
      const exact =
        at >= span.start && at < span.end ? { file: span.file, start: at, end: at + key.length } : undefined;
      yield {
        at: exact ?? span,
        message: `no node has a label "${key}"; did you mean "${near}"? As written the pod stays Pending`,
        fix: exact ? fixOf("safe", `write ${near}`, { ...exact, text: near }) : undefined,
      };
    }
  },
};
