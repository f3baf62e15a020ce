import { mkdir, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest, ManifestEntry } from "../manifest.ts";
import { encodePath } from "../path-bytes.ts";
import { copyInOrder } from "./bucket-files.ts";
import type { OwnFolder } from "./own-folder.ts";
import { beginRestoring, endRestoring, type Restoring } from "./restoring.ts";

/** Files written at once: each upload holds a buffer of its own in gcsfuse. */
const atOnce = 4;

/**
 * Writes a restored and verified checkpoint from the local stage to its final names in a mounted bucket, where nothing can be moved into place: a record of
 * what is about to be written, then the files, then markers and pointers in order, then the record away. Killed in between, the record stays and the next
 * start deletes what it names.
 */
export async function placeInBucket(
  dir: string,
  own: OwnFolder,
  manifests: readonly Manifest[],
  restoring: Restoring,
): Promise<void> {
  const entries = new Map(manifests.flatMap((manifest) => manifest.entries.map((entry) => [entry.path, entry])));
  const last = new Set(restoring.last);
  const record = await beginRestoring(own.root, restoring);
  const folders = [...entries.values()].filter(({ type }) => type === "directory").map(({ path }) => join(dir, path));
  const content = [...entries.values()].filter(({ type, path }) => type !== "directory" && !last.has(path));
  const parents = [...entries.keys()].map((path) => dirname(join(dir, path)));
  for (const folder of new Set([...folders, ...parents])) await mkdir(encodePath(folder), { recursive: true });
  let next = 0;
  const work = async () => {
    for (let at = next++; at < content.length; at = next++) await write(dir, own.stage, content[at] as ManifestEntry);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, content.length) }, work));
  for (const path of restoring.last) {
    const entry = entries.get(path);
    if (!entry) continue;
    // A pointer may name another checkpoint until now.
    await rm(encodePath(join(dir, path)), { force: true });
    await write(dir, own.stage, entry);
  }
  await endRestoring(own.root, record);
}

async function write(dir: string, stage: string, entry: ManifestEntry): Promise<void> {
  const to = join(dir, entry.path);
  if (entry.type === "link") await symlink(encodePath(entry.target), encodePath(to));
  if (entry.type !== "file") return;
  await copyInOrder(join(stage, entry.path), to);
  // By path and after the end: a time given to an open file is lost when its upload ends.
  await utimes(encodePath(to), entry.mtimeMs / 1000, entry.mtimeMs / 1000);
}
