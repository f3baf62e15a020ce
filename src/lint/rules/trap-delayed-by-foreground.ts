import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, scriptOf, spanInScript } from "../placement/script.ts";
import { type Rule, severityBy } from "../rule.ts";

export const trapDelayedByForeground: Rule = {
  id: "trap-delayed-by-foreground",
  title: "A trap waits until the running command has ended",
  severity: "warning",
  why: "A shell runs its trap only between commands. While a program runs in the foreground, SIGTERM waits for its end, which on Spot is SIGKILL 15 s later.",
  fix: "Start the program with `&`, keep its process id, and `wait` for it; the trap then runs at once and can pass the signal on.",
  sources: ["POSIX: trap, and signals while a utility is running"],
  *template({ template, placement }, context) {
    for (const container of mainContainers(template)) {
      const script = scriptOf(container, template, context.ofKind);
      if (!script) continue;
      const trap = script.commands.findIndex((command) => {
        const words = commandWords(command);
        return words[0] === "trap" && words[1] !== "" && words.slice(2).some((one) => /^(?:SIG)?TERM$|^15$/.test(one));
      });
      if (trap < 0) continue;
      const after = script.commands.slice(trap + 1);
      if (
        after.some(
          (command) =>
            command.after === "&" || commandWords(command)[0] === "wait" || commandWords(command)[0] === "exec",
        )
      )
        continue;
      const long = after.find((command) => {
        const words = commandWords(command);
        return (
          /^(?:python[\d.]*|torchrun|accelerate|deepspeed|mpirun)$/.test(words[0] ?? "") ||
          (words[0] === "sleep" && Number(words[1]) >= 10)
        );
      });
      const severity = severityBy(placement.interruptible, {
        must: "warning",
        may: "warning",
        unknown: "info",
        never: "info",
      });
      if (!long || !severity) continue;
      const [name = ""] = commandWords(long);
      yield {
        at: spanInScript(script, long.start, long.end),
        severity,
        message: `the trap for SIGTERM runs only after "${name}" has ended: it comes too late to save anything`,
      };
    }
  },
};
