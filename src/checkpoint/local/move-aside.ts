import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../core/index.ts";
import { encodePath } from "../path-bytes.ts";

/** Moves paths out of the checkpoint directory into a numbered folder under `aside`; answers with that folder. Nothing is deleted. */
export async function moveAside(dir: string, aside: string, label: string, paths: Iterable<string>): Promise<string> {
  const folder = await freshFolder(aside, label);
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
