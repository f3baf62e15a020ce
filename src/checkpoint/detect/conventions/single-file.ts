import { isDescriptiveName, isLogName, isTemporaryName } from "../names.ts";
import { findPointers } from "../pointers.ts";
import { stepOfFile } from "../step.ts";
import { folderOf, nameOf } from "../tree.ts";
import type { Candidate, Convention, ScanEntry } from "../types.ts";

const suffix = /\.(?:pt|pth|bin|safetensors|npz)$/;

/**
 * Files that are checkpoints by themselves, when nothing else is in the directory: all files of one step make one checkpoint
 * (`model_100.pt`, `optimizer_100.pt`), and a lone file without a step is one that is overwritten in place.
 */
export const singleFile: Convention = {
  name: "single-file",
  async find(scan) {
    const groups = new Map<string, ScanEntry[]>();
    const links: ScanEntry[] = [];
    for (const entry of scan.entries.values()) {
      if (entry.type === "directory" || isLogName(entry.path) || isDescriptiveName(entry.path)) continue;
      if (isTemporaryName(entry.path)) continue;
      if (entry.type === "link") links.push(entry);
      else if (!isPointerName(entry)) {
        const key = `${folderOf(entry.path)}\n${stepOfFile(nameOf(entry.path)) ?? ""}`;
        const group = groups.get(key);
        if (group) group.push(entry);
        else groups.set(key, [entry]);
      }
    }
    // Anything that fits no group may be needed too: then all of the directory is the checkpoint.
    const members = [...groups.values()];
    if (!members.every((files) => isGroup(files, members.length))) return [];
    const named = members.map((files) => ({
      files,
      path: pathOf(files),
      step: stepOfFile(nameOf(files[0]?.path ?? "")),
    }));
    const pointers = await findPointers(scan, () => Promise.resolve(undefined), named);
    if (links.some(({ path }) => !/^(?:last|latest)/.test(nameOf(path)))) return [];
    return named.map(
      ({ files, path, step }): Candidate => ({
        convention: "single-file",
        path,
        step,
        entries: files,
        markers: [],
        pointers: pointers({ path, step }),
        shrinks: true,
        state: "unmarked",
        why: files.length === 1 ? "a single file" : `${files.length} files of one step`,
      }),
    );
  },
};

function isGroup(files: readonly ScanEntry[], groups: number): boolean {
  const hasStep = stepOfFile(nameOf(files[0]?.path ?? "")) !== undefined;
  return files.some(({ path }) => suffix.test(path)) && (hasStep || (groups === 1 && files.length === 1));
}

/** The file to resume from: the first that is not plainly a companion. Sizes do not count: they change while it is written. */
function pathOf(files: readonly ScanEntry[]): string {
  const ours = files.filter(({ path }) => suffix.test(path)).map(({ path }) => path);
  return ours.find((path) => !/optim|sched|scaler|rng|random|ema/i.test(nameOf(path))) ?? ours[0] ?? "";
}

function isPointerName({ path, size }: ScanEntry): boolean {
  return size <= 4096 && /^(?:latest|last)(?:_\w+)?(?:\.txt)?$/.test(nameOf(path));
}
