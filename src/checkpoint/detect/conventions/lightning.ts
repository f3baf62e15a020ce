import { isTemporaryName } from "../names.ts";
import { readPickledInteger } from "../pickled-integer.ts";
import { findPointers, type Named } from "../pointers.ts";
import { stepOfFile } from "../step.ts";
import { entriesOf, folderOf, nameOf, type Tree, treeOf } from "../tree.ts";
import type { Candidate, Convention, ReadSmall, Scan, ScanEntry } from "../types.ts";

const suffix = /\.ckpt$/;
const isLast = (path: string) => /^last(?:-v\d+)?\.ckpt$/.test(nameOf(path));

/** PyTorch Lightning: `*.ckpt` files, or `*.ckpt/` folders from sharded strategies. */
export const lightning: Convention = {
  name: "lightning",
  async find(scan) {
    const tree = treeOf(scan);
    const ours = [...scan.entries.values()].filter(
      ({ path, type }) => suffix.test(path) && (type === "file" || type === "directory") && !isTemporaryName(path),
    );
    const pointers = await pointersFor(scan, ours);
    return ours
      .filter(({ path }) => !ours.some((outer) => path.startsWith(`${outer.path}/`)))
      .map((entry) => {
        const named = { path: entry.path, step: nameStep(entry.path) };
        return {
          convention: "lightning",
          ...named,
          entries: entry.type === "file" ? [entry] : entriesOf(scan, entry.path),
          markers: markersOf(tree, entry),
          pointers: isLast(entry.path) ? [] : pointers(named),
          ...judge(tree, entry),
        };
      });
  },
  async refine(candidate, read) {
    const inside = candidate.entries.length === 1 ? await readGlobalStep(candidate.path, read) : undefined;
    return inside === undefined ? candidate : { ...candidate, step: inside };
  },
  savedWith: (candidate, other) => folderOf(candidate.path) === folderOf(other.path),
  combine: joinSameStep,
};

function judge(tree: Tree, entry: ScanEntry): Pick<Candidate, "state" | "why"> {
  const folder = folderOf(entry.path);
  const name = nameOf(entry.path);
  const unfinished = [`${name}-unfinished`, `${name.replace(suffix, "")}-unfinished`].find((marker) =>
    tree.child(folder, marker),
  );
  if (unfinished !== undefined) return { state: "incomplete", why: `${unfinished} is there` };
  if (entry.type === "file") return { state: "unmarked", why: "a single file" };
  const files = tree.children(entry.path);
  const temporary = files.find(({ path }) => isTemporaryName(path));
  if (temporary) return { state: "incomplete", why: `${nameOf(temporary.path)} has a temporary name` };
  const hasShards = files.some(({ path }) => path.endsWith(".distcp") || nameOf(path) === ".metadata");
  if (hasShards) {
    const missing = [".metadata", "meta.pt"].find((marker) => !tree.child(entry.path, marker));
    if (missing !== undefined) return { state: "incomplete", why: `${missing} is not there yet` };
    const metadata = tree.child(entry.path, ".metadata");
    const newer = files.find(({ path, mtimeMs }) => path.endsWith(".distcp") && mtimeMs > (metadata?.mtimeMs ?? 0));
    if (newer) return { state: "incomplete", why: `${nameOf(newer.path)} is newer than .metadata` };
    return { state: "marked", why: ".metadata and meta.pt are there" };
  }
  if (!tree.child(entry.path, "latest") && !tree.child(entry.path, "checkpoint/mp_rank_00_model_states.pt")) {
    return { state: "incomplete", why: "neither .metadata nor latest is there yet" };
  }
  return tree.child(entry.path, "latest")
    ? { state: "unmarked", why: "latest is there, but other ranks may still write" }
    : { state: "incomplete", why: "latest is not there yet" };
}

function markersOf(tree: Tree, entry: ScanEntry): readonly string[] {
  if (entry.type === "file") return [];
  return ["meta.pt", ".metadata", "latest"]
    .filter((name) => tree.child(entry.path, name))
    .map((name) => `${entry.path}/${name}`);
}

/** Only links: a regular `last.ckpt` is a checkpoint itself. */
function pointersFor(scan: Scan, ours: readonly ScanEntry[]) {
  const named: Named[] = ours.map(({ path }) => ({ path, step: nameStep(path) }));
  return findPointers(scan, () => Promise.resolve(undefined), named);
}

function nameStep(path: string): number | undefined {
  const name = nameOf(path);
  const hpc = /^hpc_ckpt_(\d+)\.ckpt$/.exec(name)?.[1];
  if (hpc !== undefined || isLast(path)) return undefined;
  const said = /step=(\d+)/.exec(name)?.[1];
  return said === undefined ? stepOfFile(name) : Number(said);
}

/** A Lightning file is a pickled dictionary whose first keys are `epoch` and `global_step`. */
async function readGlobalStep(path: string, read: ReadSmall): Promise<number | undefined> {
  const head = await read(path, { limit: 4096 });
  return head && readPickledInteger(Buffer.from(head), "global_step");
}

/** `last.ckpt` is a second copy of the same step: whoever resumes from it needs it beside the named one. */
function joinSameStep(complete: readonly Candidate[]): readonly Candidate[] {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of complete) {
    const key = candidate.step === undefined ? candidate.path : `${folderOf(candidate.path)}\n${candidate.step}`;
    groups.set(key, [...(groups.get(key) ?? []), candidate]);
  }
  return [...groups.values()].flatMap((group) => {
    const first = group.find(({ path }) => !isLast(path)) ?? group[0];
    if (!first || group.length === 1) return group;
    const entries = group.flatMap((candidate) => candidate.entries).sort((a, b) => (a.path < b.path ? -1 : 1));
    return [{ ...first, entries, markers: group.flatMap(({ markers }) => markers) }];
  });
}
