import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../core/index.ts";

/** Makes a directory's entries durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates folders below a root so that they survive a crash: each one's parent is fsynced before it is used. */
export class DurableFolders {
  readonly #root: string;
  readonly #ready = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Resolves when `folder` (the root or below it) is there and will stay. */
  ensure(folder: string): Promise<void> {
    if (folder === this.#root) return Promise.resolve();
    let ready = this.#ready.get(folder);
    if (!ready) {
      ready = this.#make(folder);
      this.#ready.set(folder, ready);
      ready.catch(() => this.#ready.delete(folder));
    }
    return ready;
  }

  /** Forgets what is known, after somebody else removed a folder. */
  forget(): void {
    this.#ready.clear();
  }

  async #make(folder: string): Promise<void> {
    const parent = dirname(folder);
    await this.ensure(parent);
    try {
      await mkdir(folder);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    // Also when it was there already: whoever made it may not have come to this line.
    await syncFolder(parent);
  }
}
