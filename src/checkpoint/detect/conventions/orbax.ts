import { findPointers } from "../pointers.ts";
import { stepOfFolder } from "../step.ts";
import { entriesOf, folderOf, nameOf, type Tree, treeOf } from "../tree.ts";
import type { Candidate, Convention, ReadSmall } from "../types.ts";

const temporary = /\.orbax-checkpoint-tmp/;
const metadata = "_CHECKPOINT_METADATA";
const success = "commit_success.txt";

/** Orbax: written as `<step>.orbax-checkpoint-tmp`, renamed when done; `commit_success.txt` inside since 0.12.3. */
export const orbax: Convention = {
  name: "orbax",
  async find(scan, read) {
    const tree = treeOf(scan);
    const folders = tree.folders.filter(
      (path) =>
        path !== "" &&
        (temporary.test(nameOf(path)) ||
          [metadata, success, "_METADATA", "manifest.ocdbt"].some((name) => tree.child(path, name))),
    );
    const all = new Set(folders);
    // An item's folder (`default`, `state`) is part of the step that holds it, also where that one has lost its own metadata.
    const tops = folders.filter((path) => !outer(path, all) && !isItemOf(tree, path));
    const orphans = folders.filter((path) => !outer(path, all) && isItemOf(tree, path)).map(folderOf);
    const named = tops.map((path) => ({ path, step: stepOf(path) }));
    const pointers = await findPointers(scan, () => Promise.resolve(undefined), named);
    return Promise.all(
      [...new Set([...tops, ...orphans])].map(async (path): Promise<Candidate> => {
        const step = stepOf(path);
        return {
          convention: "orbax",
          path,
          step,
          entries: entriesOf(scan, path),
          markers: markersOf(tree, path),
          pointers: pointers({ path, step }),
          ...(await judge(tree, path, read)),
        };
      }),
    );
  },
};

function stepOf(path: string): number | undefined {
  return stepOfFolder(nameOf(path).replace(/\.orbax-checkpoint-tmp.*$/, ""));
}

function outer(path: string, all: ReadonlySet<string>): boolean {
  for (let above = folderOf(path); above !== ""; above = folderOf(above)) if (all.has(above)) return true;
  return false;
}

/** An item without its step's metadata beside it: what is left in the middle of a deletion. */
function isItemOf(tree: Tree, path: string): boolean {
  const folder = folderOf(path);
  return /^\d+$/.test(nameOf(folder)) && !tree.child(path, metadata);
}

async function judge(tree: Tree, path: string, read: ReadSmall | undefined): Promise<Pick<Candidate, "state" | "why">> {
  if (temporary.test(nameOf(path))) return { state: "incomplete", why: "its name is still temporary" };
  const below = tree.below(path);
  const unfinished = below.find((entry) => temporary.test(nameOf(entry.path)) || entry.path.endsWith(".__lock"));
  if (unfinished) return { state: "incomplete", why: `${nameOf(unfinished.path)} is still temporary` };
  if (tree.child(path, success)) return { state: "marked", why: `${success} is there` };
  const told = tree.child(path, metadata);
  if (!told) return { state: "incomplete", why: `neither ${success} nor ${metadata} is there` };
  // Newer versions give every item its own marker: with those, the step must have one too.
  if (below.some((entry) => nameOf(entry.path) === success))
    return { state: "incomplete", why: `${success} is not there` };
  // The metadata is written twice, so that it is there says nothing, and it may not be read before something does.
  if (!read)
    return { state: "incomplete", why: `${success} is not there, and nothing is read on this mount before it` };
  return (await isCommitted(told.path, read))
    ? { state: "marked", why: `${metadata} holds a commit time` }
    : { state: "incomplete", why: `${metadata} holds no commit time` };
}

async function isCommitted(path: string, read: ReadSmall): Promise<boolean> {
  try {
    const bytes = await read(path);
    const told = JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as { commit_timestamp_nsecs?: unknown };
    return typeof told.commit_timestamp_nsecs === "number";
  } catch {
    // Cut in the middle: not committed.
    return false;
  }
}

/** Items first, the step's own metadata and success file last. */
function markersOf(tree: Tree, path: string): readonly string[] {
  const inner = tree
    .below(path)
    .filter((entry) => nameOf(entry.path) === success && folderOf(entry.path) !== path)
    .map((entry) => entry.path);
  const own = [metadata, success].flatMap((name) => tree.child(path, name)?.path ?? []);
  return [...inner, ...own];
}
