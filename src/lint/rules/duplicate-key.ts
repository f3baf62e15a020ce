import type { Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";

export const duplicateKey: Rule = {
  id: "duplicate-key",
  title: "A key stands twice in one mapping",
  severity: "error",
  why: "Only one of the two values is used, the last one with most tools; kubectl refuses the file. A second env, tolerations or nodeSelector silently drops the first.",
  fix: "Join the two, or take one out.",
  sources: ["YAML 1.2: mappings", "Kubernetes: server-side field validation"],
  *document({ root }) {
    const left = root ? [root] : [];
    const seen = new Set<Node>();
    for (let node = left.pop(); node && seen.size < 200_000; node = left.pop()) {
      if (node.kind === "scalar" || seen.has(node)) continue;
      seen.add(node);
      for (const key of node.duplicates)
        yield { at: key, message: `"${key.text ?? ""}" stands twice here: only one of the two counts` };
      for (const item of node.items) left.push(item);
      for (const { value } of node.entries) left.push(value);
    }
  },
};
