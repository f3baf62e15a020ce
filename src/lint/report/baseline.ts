import type { Finding, LintResult } from "../lint.ts";

/** Findings that were there when the linter was brought in: how many of a rule, by file and object. */
export interface Baseline {
  readonly schema: 1;
  /** `RULE FILE OBJECT` → how many. */
  readonly findings: Readonly<Record<string, number>>;
}

/** Counts by rule, file and object, not by line: a baseline of lines rots with every edit. */
export function baselineOf(findings: readonly Finding[]): Baseline {
  const counts: Record<string, number> = {};
  for (const finding of findings) counts[keyOf(finding)] = (counts[keyOf(finding)] ?? 0) + 1;
  return { schema: 1, findings: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Reads a baseline's text; undefined when it is none. */
export function readBaseline(text: string): Baseline | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (
      typeof value !== "object" ||
      value === null ||
      !("findings" in value) ||
      !("schema" in value) ||
      value.schema !== 1
    )
      return undefined;
    const { findings } = value;
    if (
      typeof findings !== "object" ||
      findings === null ||
      !Object.values(findings).every((one) => typeof one === "number")
    )
      return undefined;
    return { schema: 1, findings: findings as Record<string, number> };
  } catch {
    // Not JSON: the caller says so with the file's name.
    return undefined;
  }
}

/** Takes known findings out; `stale` are entries that are found no more, or less often. */
export function withBaseline(
  result: LintResult,
  baseline: Baseline,
): { readonly result: LintResult; readonly known: number; readonly stale: readonly string[] } {
  const left = new Map(Object.entries(baseline.findings));
  const findings = result.findings.filter((finding) => {
    const key = keyOf(finding);
    const count = left.get(key) ?? 0;
    if (count <= 0) return true;
    left.set(key, count - 1);
    return false;
  });
  const stale = [...left].filter(([, count]) => count > 0).map(([key]) => key);
  return { result: { ...result, findings }, known: result.findings.length - findings.length, stale };
}

function keyOf({ rule, file, object }: Finding): string {
  return `${rule} ${file} ${object}`.trimEnd();
}
