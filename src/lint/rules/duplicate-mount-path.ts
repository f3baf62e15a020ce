import type { Rule } from "../rule.ts";

export const duplicateMountPath: Rule = {
  id: "duplicate-mount-path",
  title: "Two volumes are mounted at one path",
  severity: "error",
  why: "The API server refuses a container with the same mountPath twice.",
  fix: "Mount one of them elsewhere.",
  sources: ["Kubernetes: core validation"],
  *template({ template }) {
    for (const { node, name } of template.containers) {
      const seen = new Set<string>();
      for (const mount of node.get("volumeMounts")?.items ?? []) {
        const path = mount.get("mountPath");
        if (!path?.text) continue;
        if (seen.has(path.text))
          yield { at: path, message: `"${name}" mounts ${path.text} twice: the API server refuses it` };
        seen.add(path.text);
      }
    }
  },
};
