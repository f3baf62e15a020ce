import type { Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";

export const unresolvedPlaceholder: Rule = {
  id: "unresolved-placeholder",
  title: "A placeholder was never filled in",
  severity: "info",
  why: "Text such as <YOUR_BUCKET>, REPLACE_ME or ${IMAGE} is applied as it stands: the image is not found, the bucket does not exist, and the pod waits.",
  fix: "Fill it in, or render the file before it is linted.",
  sources: ["Seen in public manifests"],
  *template({ template }) {
    const left: Node[] = [template.node];
    const seen = new Set<Node>();
    let told = 0;
    for (let node = left.pop(); node && seen.size < 5000 && told < 3; node = left.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      if (node.kind !== "scalar") {
        left.push(
          ...node.items,
          ...node.entries
            .filter(({ name }) => name !== "command" && name !== "args" && name !== "description")
            .map(({ value }) => value),
        );
        continue;
      }
      const text = node.string ?? "";
      const found =
        /^<[A-Za-z][\w -]*>$|(?:^|[/:])<[A-Z][A-Z0-9_-]+>|REPLACE[_-]?(?:ME|WITH|THIS)|^\$\{[A-Z_]+\}$|(?:^|[/:@])\$\{?[A-Z_]+\}?(?=[/:@]|$)|CHANGE[_-]?ME\b/.exec(
          text,
        );
      // $(NAME) is Kubernetes' own spelling and is filled in by the kubelet.
      if (!found || node.style === "literal") continue;
      told += 1;
      yield { at: node, message: `"${text.length > 60 ? `${text.slice(0, 57)}…` : text}" still holds a placeholder` };
    }
  },
};
