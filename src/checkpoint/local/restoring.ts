import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { OutlastError, randomId, systemCode } from "../../core/index.ts";
import { encodePath } from "../path-bytes.ts";
import { seal, unseal } from "../sealed-json.ts";

/**
 * What a restore is about to write to its final names, where nothing can be moved into place in one go. While this record lies in the directory, what it
 * names is half of a checkpoint, whatever it looks like.
 */
export interface Restoring {
  /** Folders and files, relative to the checkpoint directory; nothing was there before. */
  readonly units: readonly string[];
  /** Markers and pointers, in the order in which they are written. */
  readonly last: readonly string[];
}

const nameOf = (root: string) => join(root, "restoring.json");

/**
 * Writes the record and answers with its seal; from then on only {@link endRestoring} or {@link undoRestoring} make the directory trustworthy again.
 */
export async function beginRestoring(root: string, restoring: Restoring): Promise<Uint8Array> {
  const record = seal({ ...restoring, id: randomId() });
  // Closed is stored: on a mounted bucket an object appears whole at close, and not at fsync.
  const file = await open(nameOf(root), "wx");
  try {
    await file.writeFile(record);
  } finally {
    await file.close();
  }
  return record;
}

/** All that the record names is there; throws when another start has meanwhile undone it. */
export async function endRestoring(root: string, record: Uint8Array): Promise<void> {
  const found = await readRecord(root);
  if (!found || !Buffer.from(found).equals(record)) {
    throw new OutlastError("OUTLAST_FILE_FAILED", `another start has deleted what was being restored beside ${root}`, {
      operation: "restore",
      target: root,
      recovery: "retry",
      hint: "give each start a --dir of its own; this one may simply be started again",
    });
  }
  await rm(nameOf(root));
}

/** Deletes what a restore that was cut off had written: markers and pointers first, so that the rest is never taken for whole; the record last. */
export async function undoRestoring(dir: string, root: string): Promise<void> {
  const bytes = await readRecord(root);
  if (!bytes) return;
  const opened = unseal(bytes);
  // A torn record was being written: nothing had been restored yet.
  const { units, last } = "content" in opened ? (opened.content as Restoring) : { units: [], last: [] };
  for (const path of [...last].reverse()) await rm(encodePath(join(dir, path)), { force: true });
  for (const path of units) await rm(encodePath(join(dir, path)), { recursive: true, force: true });
  await rm(nameOf(root), { force: true });
}

async function readRecord(root: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(nameOf(root));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
