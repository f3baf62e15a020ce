import type { Scan, ScanEntry } from "./types.ts";

/** A scan arranged by folder. */
export interface Tree {
  /** What is directly in a folder (`""` is the top), in order of paths. */
  children(folder: string): readonly ScanEntry[];
  /** Everything below a folder, at any depth. */
  below(folder: string): readonly ScanEntry[];
  /** The child of that name, if there is one. */
  child(folder: string, name: string): ScanEntry | undefined;
  /** Every folder, the top (`""`) included, parents first. */
  readonly folders: readonly string[];
}

const trees = new WeakMap<Scan, Tree>();

/** The scan's tree, made once. */
export function treeOf(scan: Scan): Tree {
  const known = trees.get(scan);
  if (known) return known;
  const byFolder = new Map<string, ScanEntry[]>([["", []]]);
  for (const entry of scan.entries.values()) {
    const folder = folderOf(entry.path);
    const siblings = byFolder.get(folder);
    if (siblings) siblings.push(entry);
    else byFolder.set(folder, [entry]);
    if (entry.type === "directory" && !byFolder.has(entry.path)) byFolder.set(entry.path, []);
  }
  const children = (folder: string): readonly ScanEntry[] => byFolder.get(folder) ?? [];
  const below = (folder: string): readonly ScanEntry[] =>
    children(folder).flatMap((entry) => (entry.type === "directory" ? [entry, ...below(entry.path)] : [entry]));
  const tree: Tree = {
    children,
    below,
    child: (folder, name) => scan.entries.get(folder === "" ? name : `${folder}/${name}`),
    folders: ["", ...[...scan.entries.values()].filter((entry) => entry.type === "directory").map(({ path }) => path)],
  };
  trees.set(scan, tree);
  return tree;
}

/** The folder that holds a path; `""` for the top. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A scan without some entries and what is below them. */
export function without(scan: Scan, isExcluded: (entry: ScanEntry) => boolean): Scan {
  const dropped: string[] = [];
  const entries = new Map<string, ScanEntry>();
  const inDropped = new Set<string>();
  for (const entry of scan.entries.values()) {
    // Parents come before children in order of paths, so one look at the parent is enough.
    if (inDropped.has(folderOf(entry.path)) || isExcluded(entry)) {
      dropped.push(entry.path);
      if (entry.type === "directory") inDropped.add(entry.path);
    } else entries.set(entry.path, entry);
  }
  return dropped.length === 0 ? scan : { root: scan.root, entries };
}

/** A checkpoint folder's own entry and all below it, in order of paths. */
export function entriesOf(scan: Scan, folder: string): readonly ScanEntry[] {
  const self = scan.entries.get(folder);
  const below = [...treeOf(scan).below(folder)].sort((a, b) => (a.path < b.path ? -1 : 1));
  return self ? [self, ...below] : below;
}
