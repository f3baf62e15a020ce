import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../core/index.ts";
import { asideFolder, isKeySegment } from "../keys.ts";
import type { ObjectInfo } from "../object-store.ts";

const statsAtOnce = 32;

/** Streams the objects below a directory in ascending order of their keys; files that vanish meanwhile are left out. */
export async function* walk(root: string, prefix: string, check: () => void): AsyncGenerator<ObjectInfo> {
  yield* walkFolder(root, prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix, check);
}

/** The folders directly below `prefix` that hold an object at any depth; empty ones are no part of a key. */
export async function* walkFolders(root: string, prefix: string, check: () => void): AsyncGenerator<string> {
  check();
  for (const name of await readNames(root, prefix, prefix)) {
    if (!name.endsWith("/")) continue;
    const { done } = await walk(root, prefix + name, check).next();
    if (!done) yield name;
  }
}

async function* walkFolder(
  root: string,
  folder: string,
  prefix: string,
  check: () => void,
): AsyncGenerator<ObjectInfo> {
  check();
  const names = await readNames(root, folder, prefix);
  for (let at = 0; at < names.length; ) {
    const name = names[at] as string;
    if (name.endsWith("/")) {
      at += 1;
      yield* walkFolder(root, folder + name, prefix, check);
      continue;
    }
    const batch: string[] = [];
    for (; at < names.length && batch.length < statsAtOnce; at += 1) {
      const file = names[at] as string;
      if (file.endsWith("/")) break;
      batch.push(folder + file);
    }
    check();
    for (const info of await Promise.all(batch.map((key) => describe(root, key)))) if (info) yield info;
  }
}

/** A folder's names in key order: a sub-folder sorts by its name with the `/` that its keys have there. */
async function readNames(root: string, folder: string, prefix: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
  return entries
    .filter((entry) => isVisible(entry.name, folder) && (entry.isFile() || entry.isDirectory()))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => (folder + name).startsWith(prefix))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** Leaves out unfinished files, names that cannot be keys (`lost+found`), and what NFS keeps of deleted open files. */
function isVisible(name: string, folder: string): boolean {
  return isKeySegment(name) && !(folder === "" && name === asideFolder) && !/^\.nfs[0-9a-f]{8,}$/.test(name);
}

async function describe(root: string, key: string): Promise<ObjectInfo | undefined> {
  try {
    return { key, size: (await stat(join(root, key))).size };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
