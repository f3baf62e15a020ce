import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, scriptOf, wordsOf } from "../placement/script.ts";
import type { Rule } from "../rule.ts";

const daemons =
  /(?:^|\/)(?:cloud-sql-proxy|cloudsql-proxy|gce-proxy|envoy|fluent-bit|fluentd|filebeat|vector|otel(?:emetry)?-collector[\w-]*|node-exporter|dcgm-exporter|tensorboard|istio\/proxyv2)(?=[:@/]|$)/i;

export const jobSidecarBlocksCompletion: Rule = {
  id: "job-sidecar-blocks-completion",
  title: "A second container keeps the Job from ever being complete",
  severity: "error",
  why: "A Job's pod is done when all its containers are. A helper that never ends keeps the pod Running, its accelerators held and paid for, after the real work is over.",
  fix: "Move the helper to initContainers with restartPolicy: Always (a native sidecar): it is stopped when the main containers end.",
  sources: ["Kubernetes: sidecar containers, sidecars and Jobs"],
  *template({ template }, context) {
    const containers = mainContainers(template);
    if (!template.jobSpec || containers.length < 2) return;
    for (const container of containers) {
      const script = scriptOf(container, template, context.ofKind);
      const last = script?.commands.at(-1);
      const words = last
        ? commandWords(last).join(" ")
        : wordsOf(container)
            .map((word) => word.text)
            .join(" ");
      const isEndless = /^(?:\S*\/)?sleep (?:infinity|inf)$|^tail -[fF] \/dev\/null$/.test(words);
      // Without arguments a known helper runs as a service; with a command of its own it may do anything.
      const isDaemon = daemons.test(container.image) && !script && !/quitquitquit|exit-zero|--max-sigterm/.test(words);
      if (!isEndless && !isDaemon) continue;
      if (isEndless && container === containers[0]) continue;
      yield {
        at: container.node,
        confidence: isEndless ? "certain" : "likely",
        severity: isEndless ? "error" : "warning",
        message: `"${container.name}" never ends: the Job is never complete after its real work is done`,
      };
    }
  },
};
