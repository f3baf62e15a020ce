import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, scriptOf, spanInScript } from "../placement/script.ts";
import { type Rule, severityBy } from "../rule.ts";

export const trapExitZeroInJob: Rule = {
  id: "trap-exit-zero-in-job",
  title: "A Job that exits 0 on SIGTERM is counted as done",
  severity: "error",
  why: "When all containers exit 0, the kubelet makes the pod Succeeded, also while its node is shutting down. The Job counts a completion, and the rest of the work is never done. This is the most repeated wrong advice about Spot.",
  fix: "Exit with another code when the work is not finished (143, or 75 as outlast does) and let podFailurePolicy ignore the eviction.",
  sources: ["Kubernetes: KEP-3329, retriable and non-retriable pod failures", "kubelet: getPhase"],
  *template({ template, placement }, context) {
    if (template.nature !== "job") return;
    for (const container of mainContainers(template)) {
      const script = scriptOf(container, template, context.ofKind);
      if (!script) continue;
      for (const command of script.commands) {
        const [name, handler = "", ...signals] = commandWords(command);
        if (name !== "trap" || !signals.some((one) => /^(?:SIG)?TERM$|^15$/.test(one))) continue;
        const body = bodyOf(handler, script.text);
        if (!/(?:^|[;&\s{])exit\s+0\s*(?:[;}\s]|$)/.test(body)) continue;
        yield {
          at: spanInScript(script, command.start, command.end),
          // An exit 0 on SIGTERM is wrong wherever the Job runs; how soon it happens is what is not known.
          severity:
            severityBy(placement.interruptible, {
              must: "error",
              may: "error",
              unknown: "warning",
              never: "warning",
            }) ?? "warning",
          message: "on SIGTERM this exits 0: an evicted run counts as finished, and the rest of the work is never done",
        };
      }
    }
  },
};

/** What a trap runs: the text itself, or the function of that name. */
function bodyOf(handler: string, text: string): string {
  if (!/^[\w-]+$/.test(handler)) return handler;
  const start = text.search(new RegExp(`(?:^|\\n)\\s*(?:function\\s+)?${handler}\\s*(?:\\(\\s*\\))?\\s*\\{`));
  if (start < 0) return handler;
  const end = text.slice(start).search(/\n\s*\}|;\s*\}/);
  return text.slice(start, end < 0 ? undefined : start + end + 3);
}
