import type { Rule } from "../rule.ts";

export const nodeselectortermsOr: Rule = {
  id: "nodeselectorterms-or",
  title: "Two node selector terms mean either, not both",
  severity: "warning",
  why: "Entries of nodeSelectorTerms are alternatives. Two terms on different labels (one for Spot, one for the GPU) let the pod onto nodes that have only one of them.",
  fix: "Put all matchExpressions under one term when all must hold.",
  sources: ["Kubernetes: node affinity"],
  *template({ template }) {
    const list = template.spec.get(
      "affinity",
      "nodeAffinity",
      "requiredDuringSchedulingIgnoredDuringExecution",
      "nodeSelectorTerms",
    );
    const terms = list?.items ?? [];
    if (terms.length < 2) return;
    const keysOf = terms.map((term) =>
      (term.get("matchExpressions")?.items ?? []).map((one) => one.get("key")?.text ?? ""),
    );
    const [first = [], second = []] = keysOf;
    // Terms that share a label are real alternatives of it.
    if (first.length === 0 || second.length === 0 || first.some((key) => second.includes(key))) return;
    const at = terms[1] ?? list;
    if (at)
      yield {
        at,
        message: `this term is an alternative to the one before: a node with ${second.join(", ")} alone is enough, ${first.join(", ")} is not needed then`,
      };
  },
};
