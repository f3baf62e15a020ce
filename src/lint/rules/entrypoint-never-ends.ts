import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, scriptOf, spanInScript, wordsOf } from "../placement/script.ts";
import type { Rule } from "../rule.ts";

export const entrypointNeverEnds: Rule = {
  id: "entrypoint-never-ends",
  title: "The main process never ends by itself",
  severity: "error",
  why: "A container that ends in `sleep infinity` or `tail -f` runs until it is killed. In a Job that means it is never complete, holds its accelerators for ever, and a failure of the real program goes unseen.",
  fix: "Run the program in the foreground as the last command.",
  sources: ["Kubernetes: Jobs, pod success"],
  *template({ template }, context) {
    for (const container of mainContainers(template)) {
      if (template.nature !== "job" || template.object.kind.startsWith("Ray")) continue;
      const script = scriptOf(container, template, context.ofKind);
      const last = script?.commands.at(-1);
      const words = last ? commandWords(last) : wordsOf(container).map((word) => word.text ?? "");
      const isEndless = /^(?:\/\S+\/)?sleep (?:infinity|inf|\d{7,})$|^tail -[fF] \/dev\/null$/.test(words.join(" "));
      if (!isEndless || last?.isNested) continue;
      // Launchers log in to waiting workers and end them when they are done.
      if (/MPIJob|LeaderWorkerSet/.test(template.object.kind)) continue;
      // The finding of a second container that never ends is another rule's.
      if (mainContainers(template).length > 1 && container !== mainContainers(template)[0]) continue;
      const at =
        script && last ? spanInScript(script, last.start, last.end) : (wordsOf(container)[0] ?? container.node);
      // A container that only sleeps is a place to work in, or an example; one that started something first hides its end.
      const hasChild = (script?.commands.length ?? 0) > 1;
      yield {
        at,
        severity: hasChild ? "error" : "info",
        message: `"${words.join(" ")}" never ends: the Job is never complete and holds its nodes until someone deletes it`,
      };
    }
  },
};
