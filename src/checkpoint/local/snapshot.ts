import { constants, type Stats } from "node:fs";
import { copyFile, link, lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import type { CompleteCheckpoint, ScanEntry } from "../detect/index.ts";
import type { ManifestEntry } from "../manifest.ts";
import { staysInside } from "../manifest-links.ts";
import { encodePath } from "../path-bytes.ts";
import type { SourceFile } from "../transfer/types.ts";
import type { OwnFolder } from "./own-folder.ts";

/** A complete checkpoint held still for reading. */
export interface Snapshot {
  readonly files: readonly SourceFile[];
  readonly entries: readonly ManifestEntry[];
  /** Markers, then pointers. */
  readonly last: readonly string[];
  readonly savedAt: string;
  /** Links that lead out of the directory and were left out. */
  readonly leftOut: readonly string[];
  remove(): Promise<void>;
}

/**
 * Takes a snapshot: a reflink of each file where the file system has them, else a hard link, which survives the trainer's deletions and
 * renames but not writing in place; so every file also carries a guard that must hold while it is read. A mounted bucket has neither: there
 * files are read where they are, under the same guard.
 */
export async function takeSnapshot(
  dir: string,
  own: Pick<OwnFolder, "snapshot" | "bucket">,
  checkpoint: CompleteCheckpoint,
): Promise<Snapshot> {
  const { snapshot: folder, bucket } = own;
  const remove = async () => {
    if (!bucket) await rm(folder, { recursive: true, force: true });
  };
  try {
    await remove();
    if (!bucket) await mkdir(folder, { recursive: true });
    const files: SourceFile[] = [];
    const entries: ManifestEntry[] = [];
    let newestMs = 0;
    const pointed = new Set(checkpoint.pointers.map((pointer) => pointer.path));
    const holder = new Holder(dir, bucket ? undefined : folder);
    const regular = checkpoint.entries.filter((entry) => entry.type === "file" && !pointed.has(entry.path));
    files.push(...(await holder.holdAll(regular)));
    for (const entry of regular) newestMs = Math.max(newestMs, entry.mtimeMs);
    const links = new Map<string, string>();
    for (const entry of checkpoint.entries) {
      if (pointed.has(entry.path)) continue;
      if (entry.type === "directory") entries.push({ type: "directory", path: entry.path, mode: entry.mode });
      if (entry.type === "link") links.set(entry.path, entry.target ?? "");
    }
    const leftOut = [...links.keys()].filter((path) => !staysInside(path, links.get(path), links));
    for (const [path, target] of links) if (!leftOut.includes(path)) entries.push({ type: "link", path, target });
    for (const { path, content } of checkpoint.pointers) {
      if (content.type === "link") entries.push({ type: "link", path, target: content.target });
      else
        files.push({
          path,
          source: "",
          size: content.bytes.length,
          mode: content.mode,
          mtimeMs: newestMs,
          bytes: content.bytes,
        });
    }
    const last = [...checkpoint.markers, ...checkpoint.pointers.map((pointer) => pointer.path)];
    return { files, entries, last, savedAt: new Date(newestMs).toISOString(), leftOut, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Files held at once. */
const atOnce = 16;

/** Holds a snapshot's files; learns from the first whether the file system has reflinks. */
class Holder {
  readonly #dir: string;
  /** Undefined where nothing can be held. */
  readonly #folder: string | undefined;
  #canReflink = true;

  constructor(dir: string, folder: string | undefined) {
    this.#dir = dir;
    this.#folder = folder;
  }

  async holdAll(entries: readonly ScanEntry[]): Promise<SourceFile[]> {
    const held = new Array<SourceFile>(entries.length);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < entries.length; at = next++) held[at] = await this.#hold(entries[at] as ScanEntry, at);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, work));
    return held;
  }

  async #hold(entry: ScanEntry, number: number): Promise<SourceFile> {
    const original = encodePath(join(this.#dir, entry.path));
    if (this.#folder === undefined) return readInPlace(original, entry);
    const held = join(this.#folder, String(number));
    const isReflink = await this.#reflink(original, held);
    const source = isReflink || (await hardLink(original, held)) ? held : original;
    // A reflink has times of its own: what it was made from must still be as it was found. A link is the file itself.
    const proof = await lstatOrGone(isReflink ? original : source);
    if (!proof.isFile() || proof.size !== entry.size || proof.mtimeMs !== entry.mtimeMs || proof.ino !== entry.ino) {
      throw new OutlastError("OUTLAST_SOURCE_CHANGED", `${entry.path} changed before it could be read`, {
        target: entry.path,
        recovery: "reset",
      });
    }
    const { ino, mtimeMs } = isReflink ? await lstatOrGone(source) : proof;
    return {
      path: entry.path,
      source,
      size: entry.size,
      mode: entry.mode,
      mtimeMs: entry.mtimeMs,
      guard: { ino, mtimeMs },
    };
  }

  async #reflink(original: string | Buffer, held: string): Promise<boolean> {
    if (!this.#canReflink) return false;
    try {
      await copyFile(original, held, constants.COPYFILE_FICLONE_FORCE);
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") throw gone(original, error);
      this.#canReflink = false;
      await rm(held, { force: true });
      return false;
    }
  }
}

/** The file itself, to be looked at again before it is opened: opening what is being written again would end its upload. */
async function readInPlace(source: string | Buffer, entry: ScanEntry): Promise<SourceFile> {
  const { path, size, mode, mtimeMs } = entry;
  const seen = await lstatOrGone(source);
  if (!seen.isFile() || seen.size !== size || seen.mtimeMs !== mtimeMs) {
    throw new OutlastError("OUTLAST_SOURCE_CHANGED", `${path} changed before it could be read`, {
      target: path,
      recovery: "reset",
    });
  }
  return { path, source, size, mode, mtimeMs, guard: { mtimeMs, isBeforeOpen: true } };
}

/** False where the file system has no hard links; the file is then read where it is. */
async function hardLink(original: string | Buffer, held: string): Promise<boolean> {
  try {
    await link(original, held);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw gone(original, error);
    return false;
  }
}

async function lstatOrGone(path: string | Buffer): Promise<Stats> {
  try {
    return await lstat(path);
  } catch (error) {
    throw systemCode(error) === "ENOENT" ? gone(path, error) : error;
  }
}

function gone(path: string | Buffer, cause: unknown): OutlastError {
  return new OutlastError("OUTLAST_SOURCE_CHANGED", `${path.toString()} went away before it could be read`, {
    cause,
    recovery: "reset",
  });
}
