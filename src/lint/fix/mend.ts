import type { Gathered } from "../files/gather.ts";
import { type LintOptions, type LintResult, lintSources } from "../lint.ts";
import { SourceFile } from "../source/source-file.ts";
import { applyFixes } from "./apply.ts";

/** Files before and after, and what is still found. */
export interface Mended {
  readonly files: readonly { readonly file: SourceFile; readonly text: string; readonly fixes: number }[];
  readonly result: LintResult;
}

/** Applies fixes until none is left: one that touches another's lines comes in the next round. */
export function mend(
  gathered: Pick<Gathered, "files" | "poolFiles">,
  first: LintResult,
  options: LintOptions,
  isUnsafe: boolean,
): Mended {
  const original = new Map(gathered.files.map((file) => [file.path, file]));
  const fixes = new Map<string, number>();
  let { files } = gathered;
  let { poolFiles } = gathered;
  let result = first;
  for (let round = 0; round < 10; round += 1) {
    const wanted = result.findings.flatMap(({ fix }) => (fix && (isUnsafe || fix.safety === "safe") ? [fix] : []));
    const changed = new Map(applyFixes(wanted).map((one) => [one.file, one]));
    if (changed.size === 0) break;
    const next = (file: SourceFile): SourceFile => {
      const one = changed.get(file);
      return one ? new SourceFile(file.path, one.text) : file;
    };
    const renewed = new Map(files.map((file) => [file, next(file)]));
    for (const [file, { applied }] of changed) fixes.set(file.path, (fixes.get(file.path) ?? 0) + applied);
    files = [...renewed.values()];
    poolFiles = new Set([...poolFiles].map((file) => renewed.get(file) ?? file));
    result = lintSources(files, { ...options, poolFiles });
  }
  return {
    result,
    files: files.flatMap((now) => {
      const file = original.get(now.path);
      return file && file.text !== now.text ? [{ file, text: now.text, fixes: fixes.get(now.path) ?? 0 }] : [];
    }),
  };
}
