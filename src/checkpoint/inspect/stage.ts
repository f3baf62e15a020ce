import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { encodePath } from "../path-bytes.ts";

/** A folder inside `to` in which something is put together before it is shown. */
export async function stageIn(to: string): Promise<string> {
  const stage = join(to, ".outlast-stage");
  await rm(stage, { recursive: true, force: true });
  await mkdir(stage, { recursive: true });
  return stage;
}

/** Ends a stage: moves its content up into `to` when it is whole, deletes it when not. */
export async function removeStage(stage: string, to: string, isWhole: boolean): Promise<void> {
  if (isWhole) {
    for (const name of await readdir(stage, { encoding: "buffer" })) {
      await rename(Buffer.concat([Buffer.from(`${stage}/`), name]), Buffer.concat([Buffer.from(`${to}/`), name]));
    }
  }
  await rm(encodePath(stage), { recursive: true, force: true });
}
