import { accelerators, mainContainers } from "../placement/pod-template.ts";
import type { Rule } from "../rule.ts";

export const noRequests: Rule = {
  id: "no-requests",
  title: "A pod with an accelerator asks for no CPU or memory",
  severity: "info",
  why: "Without requests a pod is the first to be evicted when memory runs short, and the scheduler packs others onto its node as if it needed nothing: data loaders starve and a long run dies of a neighbour.",
  fix: "Request the CPU and memory that the program needs.",
  sources: ["Kubernetes: pod quality of service, node-pressure eviction"],
  *template({ template }, { supply }) {
    if (
      accelerators(template) === 0 ||
      supply.isAutopilot ||
      template.nature === "other" ||
      template.nature === "daemon"
    )
      return;
    if (template.spec.get("resources")) return;
    for (const { node, name } of mainContainers(template)) {
      const resources = node.get("resources");
      const has = (what: string): boolean =>
        resources?.get("requests", what) !== undefined || resources?.get("limits", what) !== undefined;
      const isGpu =
        resources?.get("limits", "nvidia.com/gpu") !== undefined ||
        resources?.get("limits", "google.com/tpu") !== undefined;
      const missing = ["cpu", "memory"].filter((what) => !has(what));
      if (isGpu && missing.length === 2)
        yield {
          at: node.entry("resources")?.key ?? node,
          message: `"${name}" requests neither CPU nor memory: it is among the first to be evicted when its node runs short`,
        };
    }
  },
};
