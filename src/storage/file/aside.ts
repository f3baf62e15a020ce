import { type FileHandle, link as linkFile, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomId, systemCode } from "../../core/index.ts";
import { asideFolder } from "../keys.ts";
import { syncFolder } from "./durable-folders.ts";

const dayMs = 24 * 60 * 60 * 1000;
const sliceBytes = 256 * 1024;

/** Makes a second name for a file; failing with EEXIST when that name is taken. */
export type LinkCall = (from: string, to: string) => Promise<void>;

/** Files that are still being written, out of sight of listings. */
export class Aside {
  readonly folder: string;
  readonly #link: LinkCall;

  constructor(root: string, link: LinkCall = linkFile) {
    this.folder = join(root, asideFolder);
    this.#link = link;
  }

  /** A path nobody else uses. */
  newPath(): string {
    return join(this.folder, randomId());
  }

  /** Writes bytes to a new aside file, durable but not yet visible; `check` may throw between steps. */
  async write(body: Uint8Array, check: () => void): Promise<string> {
    const path = this.newPath();
    const handle = await this.#open(path);
    try {
      for (let at = 0; at < body.length; ) {
        check();
        const { bytesWritten } = await handle.write(body, at, Math.min(sliceBytes, body.length - at));
        at += bytesWritten;
      }
      check();
      await handle.datasync();
    } catch (error) {
      await handle.close();
      await this.discard(path);
      throw error;
    }
    await handle.close();
    return path;
  }

  async #open(path: string): Promise<FileHandle> {
    try {
      return await open(path, "wx");
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      // Somebody tidied the store and took the folder away.
      await mkdir(this.folder, { recursive: true });
      return open(path, "wx");
    }
  }

  /** Gives an aside file its real name unless that is taken; the aside name stays. */
  async linkTo(path: string, target: string): Promise<"created" | "exists"> {
    try {
      await this.#link(path, target);
      return "created";
    } catch (error) {
      // NFS may carry out a link whose reply is lost, and answer the repeated request with EEXIST or another error: only
      // the link count tells whose it is.
      if ((await stat(path)).nlink > 1) return "created";
      if (systemCode(error) === "EEXIST") return "exists";
      throw error;
    }
  }

  /** Removes an aside file that is of no use any more. */
  async discard(path: string): Promise<void> {
    try {
      await unlink(path);
    } catch (error) {
      // Swept by another process: gone is what was wanted.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }

  /** Creates the folder where it is missing. */
  async create(root: string): Promise<void> {
    try {
      await mkdir(this.folder);
      await syncFolder(root);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }

  /** Removes what crashed writers left over a day ago, by the file system's own clock: `reference` was just created. */
  async sweep(reference: string): Promise<void> {
    const nowMs = (await stat(reference)).mtimeMs;
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      try {
        if (nowMs - (await stat(path)).mtimeMs > dayMs) await unlink(path);
      } catch (error) {
        // Its writer finished, or another sweep came first.
        if (systemCode(error) !== "ENOENT") throw error;
      }
    }
  }
}
