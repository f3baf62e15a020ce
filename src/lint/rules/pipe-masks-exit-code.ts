import { mainContainers } from "../placement/pod-template.ts";
import { baseName, commandWords, scriptOf, spanInScript } from "../placement/script.ts";
import type { Rule } from "../rule.ts";

export const pipeMasksExitCode: Rule = {
  id: "pipe-masks-exit-code",
  title: "A pipeline hides the program's exit code from the Job",
  severity: "warning",
  why: "The exit code of `train | tee log` is tee's, which is 0. A program that crashed or was evicted is counted as a success, and the Job is complete.",
  fix: "Write `set -o pipefail` first (bash), or redirect to a file instead of piping.",
  sources: ["POSIX: pipelines", "Kubernetes: Jobs, pod success"],
  *template({ template }, context) {
    if (template.nature !== "job") return;
    for (const container of mainContainers(template)) {
      const script = scriptOf(container, template, context.ofKind);
      const last = script?.commands.at(-1);
      if (!script || !last || last.before !== "|" || last.isNested || script.hasPipefail) continue;
      const [name = ""] = commandWords(last);
      if (!/^(?:tee|cat|ts|awk|sed|grep|logger)$/.test(baseName(name))) continue;
      if (
        script.commands.some(
          (command) => commandWords(command)[0] === "set" && commandWords(command).includes("pipefail"),
        )
      )
        continue;
      yield {
        at: spanInScript(script, last.start, last.end),
        message: `the Job sees the exit code of ${baseName(name)}, which is 0: a program that failed or was evicted counts as done`,
      };
    }
  },
};
