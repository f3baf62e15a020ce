import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { SourceFile } from "../../src/lint/index.ts";

/** One case: a file, or a folder of files that belong together. */
export interface Case {
  readonly name: string;
  readonly files: readonly SourceFile[];
}

/** Cases of a folder, by name. */
export function casesIn(folder: string): Case[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    // A rule need not have cases of every sort.
    return [];
  }
  return names.map((name) => ({ name, files: filesIn(join(folder, name), folder) }));
}

function filesIn(path: string, root: string): SourceFile[] {
  if (!statSync(path).isDirectory()) return [new SourceFile(relative(root, path), readFileSync(path, "utf8"))];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name), root));
}

/** `# <- error` at the end of a line: a finding of that severity is wanted there. */
export function expectedIn(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.text.split("\n").flatMap((line, i) => {
      const found = /#\s*<-\s*((?:error|warning|info)(?:,\s*(?:error|warning|info))*)/.exec(line);
      return found ? (found[1] ?? "").split(/,\s*/).map((severity) => `${file.path}:${i + 1} ${severity}`) : [];
    }),
  );
}

/** `# also: rule, rule` anywhere: rules that fire as well, and rightly so. */
export function alsoIn(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ text }) => /# also: ([\w, -]+)/.exec(text)?.[1]?.split(/,\s*/) ?? []);
}
