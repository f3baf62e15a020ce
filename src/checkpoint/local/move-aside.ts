import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../core/index.ts";
import { encodePath } from "../path-bytes.ts";
import { listBelow, moveFile, removeFolder } from "./bucket-files.ts";
import type { OwnFolder } from "./own-folder.ts";

/** What to move, and how it is called. */
export interface AsideRequest {
  readonly label: string;
  /** Files and folders, relative to the checkpoint directory. */
  readonly paths: Iterable<string>;
  /** Those of their files that make a checkpoint count as complete, in the order in which they were written. */
  readonly markers: readonly string[];
}

/** Moves paths out of the checkpoint directory into a numbered folder of its own; answers with that folder. Nothing is deleted. */
export async function moveAside(dir: string, own: OwnFolder, request: AsideRequest): Promise<string> {
  const { paths } = request;
  const folder = await freshFolder(own.aside, request.label);
  if (own.bucket) {
    for (const path of paths) await moveFiles(dir, folder, path, request.markers);
    return folder;
  }
  for (const path of paths) {
    const to = join(folder, path);
    await mkdir(encodePath(dirname(to)), { recursive: true });
    try {
      await rename(encodePath(join(dir, path)), encodePath(to));
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  return folder;
}

/**
 * Where a folder cannot be renamed: file by file. Markers go first, the last one written before the others, so that after a kill at any moment what is
 * left cannot be taken for a checkpoint; the next start moves the rest.
 */
async function moveFiles(dir: string, folder: string, path: string, markers: readonly string[]): Promise<void> {
  let below: Awaited<ReturnType<typeof listBelow>>;
  try {
    below = await listBelow(dir, path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  const rank = (file: string) => markers.lastIndexOf(file);
  for (const file of below.files.toSorted((a, b) => rank(b) - rank(a))) {
    const to = join(folder, file);
    await mkdir(encodePath(dirname(to)), { recursive: true });
    await moveFile(join(dir, file), to);
  }
  for (const each of below.folders) await removeFolder(join(dir, each));
}

async function freshFolder(aside: string, label: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const folder = join(aside, n === 1 ? label : `${label}.${n}`);
    await mkdir(aside, { recursive: true });
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}
