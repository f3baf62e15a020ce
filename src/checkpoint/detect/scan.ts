import { lstat, readdir, readlink, type Stats } from "node:fs";
import { join } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import { decodeName, encodePath } from "../path-bytes.ts";
import type { Scan, ScanEntry } from "./types.ts";

/** The supervisor's own folder at the top of the checkpoint directory. */
export const ownFolder = ".outlast";

/** Calls under way at once: enough to fill libuv's threads, few enough to stop soon. */
const concurrency = 32;

/** What kind of directory is looked at. */
export interface ScanOptions {
  /** Set on a mounted bucket, where an inode number says nothing. @default false */
  readonly isBucket?: boolean | undefined;
}

/** Walks the directory with lstat, never opening a file. What vanishes on the way is not in the result. */
export async function scanDirectory(root: string, options: ScanOptions = {}): Promise<Scan> {
  const found: ScanEntry[] = [];
  const walk = new Walk(root, found, options);
  await walk.run();
  found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return { root, entries: new Map(found.map((entry) => [entry.path, entry])) };
}

/** Looks at one path again; undefined when it is gone. */
export function statEntry(root: string, path: string, options: ScanOptions = {}): Promise<ScanEntry | undefined> {
  return new Promise((resolve, reject) => {
    lstat(encodePath(join(root, path)), (error, stats) => {
      if (error) {
        if (isGone(error)) resolve(undefined);
        else reject(scanError(root, path, error));
        return;
      }
      const entry = toEntry(path, stats, options);
      if (entry.type !== "link") {
        resolve(entry);
        return;
      }
      readlink(encodePath(join(root, path)), "buffer", (linkError, target) => {
        if (!linkError) resolve({ ...entry, target: decodeName(target) });
        else if (isGone(linkError)) resolve(undefined);
        else reject(scanError(root, path, linkError));
      });
    });
  });
}

/** Callbacks rather than promises: half the cost for 100 000 files. */
class Walk {
  readonly #root: string;
  readonly #found: ScanEntry[];
  readonly #options: ScanOptions;
  readonly #folders: string[] = [""];
  readonly #names: { readonly folder: string; readonly names: readonly string[]; next: number }[] = [];
  #active = 0;
  #failed = false;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(root: string, found: ScanEntry[], options: ScanOptions) {
    this.#root = root;
    this.#found = found;
    this.#options = options;
  }

  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#failed && this.#active < concurrency) {
      const batch = this.#names.at(-1);
      if (batch) {
        const name = batch.names[batch.next];
        batch.next += 1;
        if (batch.next >= batch.names.length) this.#names.pop();
        if (name !== undefined) this.#look(batch.folder === "" ? name : `${batch.folder}/${name}`);
        continue;
      }
      const folder = this.#folders.pop();
      if (folder === undefined) break;
      this.#list(folder);
    }
    if (!this.#failed && this.#active === 0 && this.#folders.length === 0 && this.#names.length === 0) this.#resolve();
  }

  #list(folder: string): void {
    this.#active += 1;
    const path = encodePath(join(this.#root, folder));
    readdir(path, (error, names) => {
      if (error) {
        // The root itself must be there; anything below may vanish.
        this.#done(isGone(error) && folder !== "" ? undefined : scanError(this.#root, folder, error));
      } else if (names.some((name) => name.includes("\ufffd"))) {
        readdir(path, "buffer", (again, raw) => {
          if (!again) this.#add(folder, raw.map(decodeName));
          this.#done(again && !isGone(again) ? scanError(this.#root, folder, again) : undefined);
        });
      } else {
        this.#add(folder, names);
        this.#done();
      }
    });
  }

  #add(folder: string, names: readonly string[]): void {
    const wanted = folder === "" ? names.filter((name) => name !== ownFolder) : names;
    if (wanted.length > 0) this.#names.push({ folder, names: wanted, next: 0 });
  }

  #look(path: string): void {
    this.#active += 1;
    lstat(encodePath(`${this.#root}/${path}`), (error, stats) => {
      if (error) {
        this.#done(isGone(error) ? undefined : scanError(this.#root, path, error));
        return;
      }
      const entry = toEntry(path, stats, this.#options);
      if (entry.type === "directory") this.#folders.push(path);
      if (entry.type !== "link") {
        this.#found.push(entry);
        this.#done();
        return;
      }
      readlink(encodePath(`${this.#root}/${path}`), "buffer", (linkError, target) => {
        if (!linkError) this.#found.push({ ...entry, target: decodeName(target) });
        this.#done(linkError && !isGone(linkError) ? scanError(this.#root, path, linkError) : undefined);
      });
    });
  }

  #done(error?: OutlastError): void {
    this.#active -= 1;
    if (error) {
      this.#failed = true;
      this.#reject(error);
    } else this.#pump();
  }
}

function toEntry(path: string, stats: Stats, { isBucket }: ScanOptions): ScanEntry {
  return {
    path,
    type: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other",
    size: stats.size,
    mode: stats.mode & 0o7777,
    ino: isBucket ? 0 : stats.ino,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    dev: stats.dev,
    birthtimeMs: stats.birthtimeMs,
  };
}

/** ENOTDIR and EINVAL: replaced by something of another kind between two calls. ESTALE: gone, as NFS says it. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "EINVAL", "ESTALE"].includes(systemCode(error) ?? "");
}

function scanError(root: string, path: string, cause: unknown): OutlastError {
  const target = join(root, path);
  const missing = path === "" && isGone(cause);
  const isMountGone = systemCode(cause) === "ENOTCONN";
  return new OutlastError(
    missing ? "OUTLAST_DIR_MISSING" : "OUTLAST_STORE_FAILED",
    missing
      ? `the checkpoint directory ${target} is not there`
      : `could not look at ${target} in the checkpoint directory`,
    {
      cause,
      operation: "scan",
      target,
      recovery: "retry",
      hint: missing
        ? "create it, or give the right --dir"
        : isMountGone
          ? "the program behind the mount has died: mount it again"
          : "check its permissions and its disk; --ignore leaves it out",
    },
  );
}
