import type { Edit, Fix } from "../rule.ts";
import type { SourceFile } from "../source/source-file.ts";

/** A file before and after its fixes. */
export interface FixedFile {
  readonly file: SourceFile;
  readonly text: string;
  readonly applied: number;
  /** Fixes that touch what another one changed; they come in the next round. */
  readonly postponed: number;
}

/** Applies fixes file by file; where two overlap the first wins. A fix is applied whole or not at all. */
export function applyFixes(fixes: readonly Fix[]): FixedFile[] {
  const taken = new Map<SourceFile, Edit[]>();
  const counts = new Map<SourceFile, { applied: number; postponed: number }>();
  const seen = new Set<string>();
  for (const fix of fixes) {
    const [first] = fix.edits;
    if (!first) continue;
    const id = fix.edits.map(({ file, start, end, text }) => `${file.path}:${start}:${end}:${text}`).join("|");
    if (seen.has(id)) continue;
    seen.add(id);
    const count = counts.get(first.file) ?? { applied: 0, postponed: 0 };
    counts.set(first.file, count);
    const isFree = fix.edits.every((edit) => (taken.get(edit.file) ?? []).every((other) => !overlaps(edit, other)));
    if (!isFree) {
      count.postponed += 1;
      continue;
    }
    for (const edit of fix.edits) taken.set(edit.file, [...(taken.get(edit.file) ?? []), edit]);
    count.applied += 1;
  }
  return [...taken].map(([file, edits]) => {
    let { text } = file;
    // New lines end as the file's own do.
    const newline = text.includes("\r\n") ? "\r\n" : "\n";
    for (const edit of edits.toSorted((a, b) => b.start - a.start))
      text = text.slice(0, edit.start) + edit.text.replaceAll("\n", newline) + text.slice(edit.end);
    return { file, text, ...(counts.get(file) ?? { applied: 0, postponed: 0 }) };
  });
}

function overlaps(a: Edit, b: Edit): boolean {
  return a.start === b.start || (a.start < b.end && b.start < a.end);
}
