import type { LintResult } from "../lint.ts";
import type { Severity } from "../rule.ts";

const levels: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

/** Findings as workflow commands, which GitHub shows on the changed lines. */
export function formatGithub({ findings }: LintResult): string {
  return findings
    .map(({ severity, file, line, column, endLine, endColumn, rule, message }) => {
      const place = `file=${property(file)},line=${line},col=${column},endLine=${endLine},endColumn=${endColumn}`;
      return `::${levels[severity]} ${place},title=${property(rule)}::${data(message)}`;
    })
    .join("\n");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
