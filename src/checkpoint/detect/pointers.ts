import { folderOf, nameOf, treeOf } from "./tree.ts";
import type { Pointer, ReadSmall, Scan, ScanEntry } from "./types.ts";

/** Text files that name the newest checkpoint beside them. */
const pointerNames =
  /^(?:latest|last|latest\.txt|latest_checkpoint|latest_checkpoint\.txt|last_checkpoint|last_checkpoint\.txt|latest_checkpointed_iteration\.txt|latest_step|latest_step\.txt|dlrover_latest\.txt|latest_checkpointed_step\.txt)$/;
const linkNames = /^(?:last|latest)/;
const sizeLimit = 4096;

/** What a pointer can name: a checkpoint's path and step. */
export interface Named {
  readonly path: string;
  readonly step: number | undefined;
}

/** Finds the pointer files and links beside checkpoints and tells, for each checkpoint, what they say when they name it. */
export async function findPointers(
  scan: Scan,
  read: ReadSmall,
  checkpoints: readonly Named[],
): Promise<(checkpoint: Named) => readonly Pointer[]> {
  const makers = new Map<string, ((checkpoint: Named) => Pointer)[]>();
  for (const folder of new Set(checkpoints.map(({ path }) => folderOf(path)))) {
    const siblings = checkpoints.filter(({ path }) => folderOf(path) === folder);
    for (const entry of treeOf(scan).children(folder)) {
      const maker = entry.type === "link" ? linkPointer(entry, siblings) : await filePointer(entry, siblings, read);
      if (maker) makers.set(folder, [...(makers.get(folder) ?? []), maker]);
    }
  }
  return (checkpoint) => (makers.get(folderOf(checkpoint.path)) ?? []).map((make) => make(checkpoint));
}

function linkPointer(entry: ScanEntry, siblings: readonly Named[]): ((checkpoint: Named) => Pointer) | undefined {
  const target = entry.target ?? "";
  if (!linkNames.test(nameOf(entry.path))) return undefined;
  // Only a plain link to a sibling can be turned to another one; its target may already be rotated away.
  const plain = target.replace(/^\.\//, "").replace(/\/$/, "");
  const absolute = target.startsWith("/");
  if (!absolute && plain.includes("/")) return undefined;
  if (absolute && !siblings.some(({ path }) => nameOf(path) === nameOf(target))) return undefined;
  return (checkpoint) => ({ path: entry.path, content: { type: "link", target: nameOf(checkpoint.path) } });
}

async function filePointer(
  entry: ScanEntry,
  siblings: readonly Named[],
  read: ReadSmall,
): Promise<((checkpoint: Named) => Pointer) | undefined> {
  if (entry.type !== "file" || entry.size > sizeLimit || !pointerNames.test(nameOf(entry.path))) return undefined;
  // Read while it may be rewritten: only its style matters (a name, a path or a bare number), never which one it names now.
  const text = Buffer.from((await read(entry.path, { limit: sizeLimit })) ?? []).toString("utf8");
  const said = text.trim();
  const ending = /\s*$/.exec(text)?.[0] ?? "";
  const asPath = said.includes("/") ? said.slice(0, said.lastIndexOf("/") + 1) : "";
  const asNumber = /^\d+$/.test(said) && !siblings.some(({ path }) => nameOf(path) === said);
  const isIteration = /iteration|step/.test(nameOf(entry.path));
  return ({ path, step }) => {
    const numeric = step !== undefined && (asNumber || (said === "" && isIteration));
    const line = `${numeric ? String(step) : `${asPath}${nameOf(path)}`}${ending}`;
    return { path: entry.path, content: { type: "file", bytes: Buffer.from(line, "utf8"), mode: entry.mode } };
  };
}
