import { findPointers, type Named } from "../pointers.ts";
import { stepOfFolder } from "../step.ts";
import { entriesOf, nameOf, type Tree, treeOf } from "../tree.ts";
import type { Candidate, Convention, ReadSmall, Scan, ScanEntry } from "../types.ts";

const shard = /^__(\d+)_\d+\.distcp$/;
const rankMetadata = /^__(\d+)\.metadata$/;
const metadataLimit = 256 << 20;

/**
 * PyTorch Distributed Checkpoint (torchtitan, Megatron's torch_dist): `.metadata` is renamed into place last. In the directory of one shard of several, the
 * other ranks' files are elsewhere, and `.metadata` is where rank 0 is.
 */
export const createDcp = ({ isShard }: { readonly isShard: boolean }): Convention => ({
  name: "dcp",
  async find(scan) {
    const tree = treeOf(scan);
    const named = namedIn(scan);
    // Which pointers there are shows without reading them; what is in them is read once the checkpoint is complete.
    const pointers = await findPointers(scan, () => Promise.resolve(undefined), named);
    return named.map(({ path, step }): Candidate => {
      const verdict = judge(tree, path, isShard);
      return {
        convention: "dcp",
        path,
        step,
        entries: entriesOf(scan, path),
        markers: tree
          .children(path)
          .filter((entry) => isMarker(nameOf(entry.path)))
          .map((entry) => entry.path),
        pointers: pointers({ path, step }),
        ...verdict,
      };
    });
  },
  async refine(candidate, read, scan) {
    const missing = isShard ? undefined : await missingShard(candidate, read, scan);
    const pointers = (await findPointers(scan, read, namedIn(scan)))(candidate);
    return missing === undefined
      ? { ...candidate, pointers }
      : { ...candidate, state: "incomplete", why: `${missing}, which .metadata names, is missing` };
  },
});

function namedIn(scan: Scan): readonly Named[] {
  const tree = treeOf(scan);
  return tree.folders
    .filter((path) => path !== "" && tree.children(path).some(isOurs))
    .map((path) => ({ path, step: stepOfFolder(nameOf(path)) }));
}

function isOurs({ path, type }: ScanEntry): boolean {
  const name = nameOf(path);
  return (
    type === "file" && (name === ".metadata" || name === ".metadata.tmp" || shard.test(name) || rankMetadata.test(name))
  );
}

function isMarker(name: string): boolean {
  return name === ".metadata" || rankMetadata.test(name) || name === "metadata.json";
}

function judge(tree: Tree, folder: string, isShard: boolean): Pick<Candidate, "state" | "why"> {
  const files = tree.children(folder);
  if (tree.child(folder, ".metadata.tmp")) return { state: "incomplete", why: ".metadata.tmp is there" };
  const metadata = tree.child(folder, ".metadata");
  if (!metadata && isShard && files.some(({ path }) => shard.test(nameOf(path)))) {
    return { state: "unmarked", why: "one shard's files; .metadata is written where rank 0 is" };
  }
  if (!metadata) return judgeRanks(files);
  // Megatron adds its own description after .metadata.
  if (tree.child(folder, "common.pt") && !tree.child(folder, "metadata.json")) {
    return { state: "incomplete", why: "metadata.json is not there yet" };
  }
  const newer = files.find(({ path, mtimeMs }) => shard.test(nameOf(path)) && mtimeMs > metadata.mtimeMs);
  if (newer)
    return { state: "incomplete", why: `${nameOf(newer.path)} is newer than .metadata: it is being written again` };
  return { state: "marked", why: ".metadata is there" };
}

/** Without a collective each rank writes its own metadata; how many ranks there are is known from the shards alone. */
function judgeRanks(files: readonly ScanEntry[]): Pick<Candidate, "state" | "why"> {
  const numbers = (pattern: RegExp) =>
    new Set(files.flatMap(({ path }) => pattern.exec(nameOf(path))?.[1] ?? []).map(Number));
  const told = numbers(rankMetadata);
  if (told.size === 0) return { state: "incomplete", why: ".metadata is not there yet" };
  const ranks = Math.max(...told, ...numbers(shard)) + 1;
  for (let rank = 0; rank < ranks; rank += 1) {
    if (!told.has(rank)) return { state: "incomplete", why: `__${rank}.metadata is not there yet` };
  }
  return { state: "unmarked", why: `the metadata of ranks 0 to ${ranks - 1} is there; there may be more ranks` };
}

/** The metadata is a pickle; the shards' names stand in it as plain text. Nothing is unpickled. */
async function missingShard(candidate: Candidate, read: ReadSmall, scan: Scan): Promise<string | undefined> {
  for (const marker of candidate.markers.filter((path) => path.endsWith("metadata"))) {
    const text = Buffer.from((await read(marker, { limit: metadataLimit })) ?? []).toString("latin1");
    for (const [name] of text.matchAll(/__\d+_\d+\.distcp/g)) {
      if (!treeOf(scan).child(candidate.path, name)) return name;
    }
  }
  return undefined;
}
