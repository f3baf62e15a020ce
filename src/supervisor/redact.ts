const secretName = /(token(?![a-z])|secret|passw(or)?d|api[-_]?key|access[-_]?key|credential)/i;
const hidden = "***";

/** A command line that may be stored and shown: values that look like secrets are taken out. */
export function redactCommand(command: readonly string[]): string[] {
  return command.map((argument, i) => {
    const previous = command[i - 1] ?? "";
    if (/^--?[\w-]+$/.test(previous) && secretName.test(previous) && !argument.startsWith("-")) return hidden;
    const assignment = /^(-{0,2}[\w.-]+=)(.+)$/s.exec(argument);
    if (assignment?.[1] && secretName.test(assignment[1])) return `${assignment[1]}${hidden}`;
    return argument.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi, `$1${hidden}@`);
  });
}
