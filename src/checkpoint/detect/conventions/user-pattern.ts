import { compileGlob } from "../glob.ts";
import { isLogName, isTemporaryName } from "../names.ts";
import { stepOfFile, stepOfFolder } from "../step.ts";
import { entriesOf, folderOf, nameOf, type Tree, treeOf, without } from "../tree.ts";
import type { Candidate, Convention, Scan, ScanEntry } from "../types.ts";

/**
 * `--complete-when PATTERN`: a checkpoint is complete when a file (or folder) that matches is there. What it marks, in this order:
 * the files and folders beside it that share its name up to its last suffix (`step_100.done` marks `step_100.pt` and `step_100/`);
 * else the folder that holds it (`step_100/DONE`); else, at the top, all of the directory.
 * A marker older than what it marks is a leftover and marks nothing.
 */
export function createUserPattern(pattern: string): Convention {
  const matches = compileGlob(pattern);
  return {
    name: "complete-when",
    find(scan) {
      const byCheckpoint = new Map<string, { readonly target: Target; readonly markers: ScanEntry[] }>();
      for (const entry of scan.entries.values()) {
        if (!matches(entry.path)) continue;
        const target = targetOf(scan, entry, matches);
        const known = byCheckpoint.get(target.path);
        if (known) known.markers.push(entry);
        else byCheckpoint.set(target.path, { target, markers: [entry] });
      }
      return Promise.resolve([...byCheckpoint.values()].map(({ target, markers }) => toCandidate(target, markers)));
    },
  };
}

/** What a marker marks. */
interface Target {
  readonly path: string;
  readonly step: number | undefined;
  readonly entries: readonly ScanEntry[];
  readonly shrinks: boolean;
}

function targetOf(scan: Scan, marker: ScanEntry, matches: (path: string) => boolean): Target {
  const folder = folderOf(marker.path);
  const siblings = sameStem(treeOf(scan), marker, matches);
  const main = siblings.find(({ type }) => type === "directory") ?? largest(siblings);
  if (main) {
    return {
      path: main.path,
      step: main.type === "directory" ? stepOfFolder(nameOf(main.path)) : stepOfFile(nameOf(main.path)),
      entries: siblings.flatMap((entry) => (entry.type === "directory" ? entriesOf(scan, entry.path) : [entry])),
      shrinks: false,
    };
  }
  if (folder !== "") {
    return { path: folder, step: stepOfFolder(nameOf(folder)), entries: entriesOf(scan, folder), shrinks: false };
  }
  const entries = [...without(scan, ({ path }) => isLogName(path)).entries.values()];
  return { path: "", step: undefined, entries, shrinks: true };
}

function toCandidate(target: Target, markers: readonly ScanEntry[]): Candidate {
  const all = new Map([...target.entries, ...markers].map((entry) => [entry.path, entry]));
  const entries = [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    convention: "complete-when",
    ...target,
    entries,
    markers: markers.map(({ path }) => path),
    pointers: [],
    ...judge(entries, markers),
  };
}

function judge(entries: readonly ScanEntry[], markers: readonly ScanEntry[]): Pick<Candidate, "state" | "why"> {
  const own = new Set(markers.map(({ path }) => path));
  // One a rank may have been made at different times: the last one counts.
  const madeAt = Math.max(...markers.map(({ mtimeMs }) => mtimeMs));
  const rest = entries.filter(({ path }) => !own.has(path));
  const newer = rest.find(({ type, mtimeMs }) => type === "file" && mtimeMs > madeAt);
  if (newer) return { state: "incomplete", why: `${newer.path} is newer than its marker` };
  const temporary = rest.find(({ path }) => isTemporaryName(path));
  if (temporary) return { state: "incomplete", why: `${temporary.path} has a temporary name` };
  return { state: "marked", why: `${[...own].join(" and ")} is there` };
}

function sameStem(tree: Tree, marker: ScanEntry, matches: (path: string) => boolean): readonly ScanEntry[] {
  const folder = folderOf(marker.path);
  const stem = nameOf(marker.path).replace(/\.[^.]+$/, "");
  if (stem === "" || stem === nameOf(marker.path)) return [];
  return tree.children(folder).filter(({ path }) => {
    const name = nameOf(path);
    return !matches(path) && (name === stem || name.replace(/\.[^.]+$/, "") === stem);
  });
}

function largest(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return entries.reduce<ScanEntry | undefined>(
    (best, entry) => (best && best.size >= entry.size ? best : entry),
    undefined,
  );
}
