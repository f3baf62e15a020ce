import { fixOf } from "../fix/edits.ts";
import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, isLongRunning, type Script, scriptOf, spanInScript } from "../placement/script.ts";
import { type Rule, severityBy } from "../rule.ts";

export const shellPid1SwallowsSigterm: Rule = {
  id: "shell-pid1-swallows-sigterm",
  title: "A shell stays PID 1 and does not pass SIGTERM on",
  severity: "warning",
  why: "SIGTERM goes to PID 1 of the container. A shell that stays there while it waits for the program neither ends nor passes the signal on: the program runs on unwarned until SIGKILL. `sh -c` of Debian's dash always stays; `bash -c` hands over only to a last simple command, and not after a pipeline, a compound command or a trap; a script file never hands over.",
  fix: "Write `exec` before the last command, use the exec form without a shell, or run it under a supervisor that passes signals on.",
  sources: ["Kubernetes: pod lifecycle, termination of pods", "Tried with bash 5.2 and dash"],
  *template({ template, placement }, context) {
    if (template.object.kind.startsWith("Ray") || template.nature === "daemon") return;
    for (const container of mainContainers(template)) {
      const script = scriptOf(container, template, context.ofKind);
      if (!script || handsOver(script)) continue;
      const last = script.commands.at(-1);
      if (!last || last.after === "&" || last.isNested) continue;
      const words = commandWords(last);
      if (!isLongRunning(words)) continue;
      const isPiped = last.before === "|" || last.after === "|";
      const first = isPiped ? (script.commands.at(-2) ?? last) : last;
      const at = spanInScript(script, first.start, first.end);
      const severity = severityBy(placement.interruptible, {
        must: "warning",
        may: "warning",
        unknown: "info",
        never: "info",
      });
      if (!severity) continue;
      const insert = { file: at.file, start: at.start, end: at.start, text: "exec " };
      yield {
        at,
        severity,
        message: `${script.shell} stays PID 1 here and never passes SIGTERM on: "${words.slice(0, 2).join(" ")}" runs unwarned until SIGKILL`,
        fix:
          at.isExact && !isPiped && !hasAssignment(first.words[0]) && !script.isFile
            ? fixOf("safe", 'write "exec" before it', insert)
            : undefined,
      };
    }
  },
};

function hasAssignment(
  word: { readonly parts: readonly { readonly kind: string; readonly text?: string }[] } | undefined,
): boolean {
  return /^[A-Za-z_]\w*=/.test(word?.parts[0]?.text ?? "");
}

/** Whether the shell gives its place to the program, or takes care of signals itself. */
function handsOver({ shell, commands, isFile }: Script): boolean {
  if (commands.some((command) => commandWords(command)[0] === "trap")) return true;
  const last = commands.at(-1);
  if (!last) return true;
  if (commandWords(last)[0] === "exec") return true;
  const isSimple = !last.isNested && last.before !== "|" && last.after !== "|" && last.before !== "||";
  return shell === "bash" && !isFile && isSimple;
}
