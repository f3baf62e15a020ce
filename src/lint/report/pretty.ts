import type { Finding, LintResult } from "../lint.ts";
import type { Severity } from "../rule.ts";

/** Colours a word, or leaves it as it is. */
export type Paint = (format: "bold" | "dim" | "red" | "yellow", text: string) => string;

const colours: Readonly<Record<Severity, "red" | "yellow" | "dim">> = { error: "red", warning: "yellow", info: "dim" };

/** Findings for people: the place, the line with a caret under it, the consequence, and what else is part of it. */
export function formatPretty(result: LintResult, paint: Paint = (_, text) => text): string {
  const parts = result.findings.map((finding) => formatFinding(finding, paint));
  return [...parts, summary(result)].join("\n");
}

function formatFinding(finding: Finding, paint: Paint): string {
  const { file, line, column, endColumn, endLine, severity, rule, message, related, fix, span, confidence } = finding;
  const gutter = String(line).length;
  const source = span.file.lineText(line);
  const width = Math.max(1, (endLine === line ? endColumn : source.length + 1) - column);
  const lines = [
    `${paint("bold", `${file}:${line}:${column}`)} ${paint(colours[severity], severity)} ${message} ${paint("dim", `[${rule}]`)}${confidence === "likely" ? paint("dim", " (likely)") : ""}`,
  ];
  if (source.trim() !== "") {
    lines.push(`${paint("dim", ` ${line} |`)} ${source}`);
    // Tabs before the caret stay tabs, so that it stands under its word.
    const lead = source.slice(0, column - 1).replace(/[^\t]/g, " ");
    lines.push(
      `${paint("dim", ` ${" ".repeat(gutter)} |`)} ${lead}${paint(colours[severity], "^".repeat(Math.min(width, 80)))}`,
    );
  }
  if (related) lines.push(paint("dim", `   ${related.file}:${related.line}:${related.column} ${related.message}`));
  if (fix) lines.push(paint("dim", `   fix: ${fix.title} (${fix.safety === "safe" ? "--fix" : "--fix=unsafe"})`));
  return `${lines.join("\n")}\n`;
}

function summary({ findings, suppressed, counts }: LintResult): string {
  const of = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const found = (["error", "warning", "info"] as const)
    .filter((severity) => of(severity) > 0)
    .map((severity) => plural(of(severity), severity));
  const looked = `${plural(counts.templates, "pod template")}, ${plural(counts.pools, "pool")} in ${plural(counts.files, "file")}`;
  const quiet = suppressed.length > 0 ? `, ${suppressed.length} suppressed` : "";
  return `${found.length > 0 ? found.join(", ") : "nothing found"}${quiet} (${looked})`;
}

function plural(n: number, word: string): string {
  return `${n} ${word}${n === 1 || word === "info" ? "" : "s"}`;
}
