import { mainContainers } from "../placement/pod-template.ts";
import { baseName, commandWords, isLongRunning, scriptOf, spanInScript } from "../placement/script.ts";
import { type Rule, severityBy } from "../rule.ts";

export const sigtermIgnored: Rule = {
  id: "sigterm-ignored",
  title: "SIGTERM is switched off for the program",
  severity: "error",
  why: "`trap '' TERM` makes the shell and everything it starts ignore SIGTERM; `setsid` and `nohup` put the program where the signal does not reach it. It then works on until SIGKILL and saves nothing.",
  fix: "Take the trap, setsid or nohup away, or handle the signal: save, then leave with a code other than 0.",
  sources: ["POSIX: trap", "Kubernetes: pod lifecycle, termination of pods"],
  *template({ template, placement }, context) {
    for (const container of mainContainers(template)) {
      const script = scriptOf(container, template, context.ofKind);
      for (const command of script?.commands ?? []) {
        const words = commandWords(command);
        const [name = "", first, ...rest] = words;
        const isOff = name === "trap" && first === "" && rest.some((one) => /^(?:SIG)?TERM$|^15$/.test(one));
        const isAway =
          /^(?:setsid|nohup)$/.test(baseName(name)) &&
          isLongRunning(words.slice(1).filter((word) => !word.startsWith("-")));
        if (!script || !(isOff || isAway)) continue;
        const severity = severityBy(placement.interruptible, {
          must: "error",
          may: "error",
          unknown: "warning",
          never: "warning",
        });
        yield {
          at: spanInScript(script, command.start, command.end),
          ...(severity ? { severity } : {}),
          message: isOff
            ? "SIGTERM is ignored from here on: the program is told nothing before SIGKILL"
            : `${baseName(name)} takes the program out of reach of SIGTERM: it is told nothing before SIGKILL`,
        };
      }
    }
  },
};
