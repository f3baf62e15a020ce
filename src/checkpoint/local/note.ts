import { randomBytes } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { systemCode } from "../../core/index.ts";
import { seal, unseal } from "../sealed-json.ts";
import type { ChildIdentity } from "./orphan.ts";

/**
 * Kept in the checkpoint directory: which past its content belongs to. Written before the child starts, and whenever a checkpoint is
 * found complete.
 */
export interface Note {
  readonly run: string;
  readonly store: string;
  /** The start whose child writes here. */
  readonly epoch: number;
  /** Position of the commit it resumed from; 0 for nothing. */
  readonly base: number;
  readonly boot: string;
  /** Fingerprints of checkpoints found complete while they could be watched. */
  readonly complete: readonly string[];
  /** The program started by that start, once it runs. */
  readonly child?: ChildIdentity | undefined;
}

/** Reads the note; undefined when there is none or it is torn. */
export async function readNote(path: string): Promise<Note | undefined> {
  try {
    const opened = unseal(await readFile(path));
    return "content" in opened ? (opened.content as Note) : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the note, durably. */
export async function writeNote(path: string, note: Note): Promise<void> {
  const aside = `${path}.${randomBytes(4).toString("hex")}`;
  const file = await open(aside, "w");
  try {
    await file.writeFile(seal(note));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
}
