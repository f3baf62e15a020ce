import { lstat, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../core/index.ts";
import type { Manifest } from "../manifest.ts";
import { encodePath } from "../path-bytes.ts";
import { moveAside } from "./move-aside.ts";
import type { OwnFolder } from "./own-folder.ts";
import { placeInBucket } from "./place-in-bucket.ts";

/**
 * Moves a restored and verified checkpoint from the stage to where the program looks for it: its folder or file in one rename each, then markers
 * and pointers, last of all and in order. What stood there is moved aside first, so that nothing of two checkpoints is mixed.
 */
export async function placeStage(
  dir: string,
  own: OwnFolder,
  label: string,
  manifests: readonly Manifest[],
): Promise<void> {
  const last = [...new Set(manifests.flatMap((manifest) => manifest.last))];
  const units = unitsOf(manifests);
  const first = units.filter((unit) => !last.includes(unit));
  const after = last.filter((path) => units.includes(path));
  const inTheWay: string[] = [];
  for (const unit of first) if (await exists(join(dir, unit))) inTheWay.push(unit);
  if (inTheWay.length > 0) await moveAside(dir, own, { label, paths: inTheWay, markers: last });
  if (own.bucket) {
    await placeInBucket(dir, own, manifests, { units: [...first, ...after], last });
    return;
  }
  const touched = new Set<string>();
  for (const unit of [...first, ...after]) {
    const to = join(dir, unit);
    await mkdir(encodePath(dirname(to)), { recursive: true });
    await rename(encodePath(join(own.stage, unit)), encodePath(to));
    touched.add(dirname(to));
  }
  for (const folder of touched) await syncFolder(folder);
}

/** Paths that are moved by one rename each: the checkpoint's own folder or file, and whatever lies outside it. */
function unitsOf(manifests: readonly Manifest[]): string[] {
  const units = new Set<string>();
  for (const manifest of manifests) {
    for (const { path } of manifest.entries) {
      const isInside = manifest.path !== "" && (path === manifest.path || path.startsWith(`${manifest.path}/`));
      if (isInside) units.add(manifest.path);
      // Folders above the checkpoint are made as needed, never moved: other things may live in them.
      else if (manifest.path !== "" && manifest.path.startsWith(`${path}/`)) continue;
      else units.add(manifest.path === "" ? (path.split("/")[0] ?? path) : path);
    }
  }
  const all = [...units].toSorted();
  return all.filter((unit) => !all.some((other) => unit.startsWith(`${other}/`)));
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(encodePath(path));
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(encodePath(path), "r");
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems cannot sync a folder; a restore that is lost is simply done again.
    if (systemCode(error) !== "EINVAL") throw error;
  } finally {
    await folder.close();
  }
}
