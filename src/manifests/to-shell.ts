import type { Step } from "./types.ts";

/** Commands as a script: each with its reason, one flag a line where there are many. */
export function toShell(steps: readonly Step[]): string {
  return steps.map((step) => `${commentOf(step.purpose)}\n${fileOf(step)}${commandOf(step.argv)}\n`).join("\n");
}

function commentOf(text: string): string {
  return `# ${text}`;
}

function fileOf({ file }: Step): string {
  return file ? `cat > ${quoteWord(file.name)} <<'EOF'\n${file.text}EOF\n` : "";
}

function commandOf(argv: readonly string[]): string {
  const groups: string[] = [];
  for (const [index, word] of argv.entries()) {
    const quoted = quoteWord(word);
    if (index === 0 || !word.startsWith("--"))
      groups[Math.max(0, groups.length - 1)] = [groups.at(-1), quoted].filter(Boolean).join(" ");
    else groups.push(quoted);
  }
  const line = groups.join(" ");
  return line.length <= 120 ? line : groups.join(" \\\n  ");
}

/** A word as a POSIX shell reads it back unchanged. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
