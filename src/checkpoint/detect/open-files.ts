import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { systemCode } from "../../core/index.ts";
import { listProcesses, processTree } from "./process-tree.ts";
import type { ScanEntry } from "./types.ts";

/** Which files a program has open for writing, or that it cannot be known from here. */
export type OpenFiles =
  | { readonly known: false; readonly why: string }
  | { readonly known: true; has(entry: ScanEntry): boolean };

/** Looks at a program's open files; `pid` is the root of its process tree. */
export type LookAtOpenFiles = (pid: number) => OpenFiles;

/** Creates a look at what is open for writing, or mapped shared and writable, under `root`. Processes once seen are remembered. */
export function createOpenFilesLook(root: string): LookAtOpenFiles {
  const known = new Map<number, number>();
  return (pid) => {
    const all = listProcesses();
    if (!all) return { known: false, why: "there is no /proc here" };
    const base = realpathSync(root);
    const paths = new Set<string>();
    const inodes = new Set<string>();
    for (const member of processTree(pid, all, known)) {
      const unreadable = collect(member.pid, base, paths, inodes);
      if (unreadable) return { known: false, why: unreadable };
    }
    return {
      known: true,
      has: (entry) => paths.has(entry.path) || (entry.dev !== undefined && inodes.has(`${entry.dev}:${entry.ino}`)),
    };
  };
}

/** Adds what one process writes to; returns why it cannot be seen, if so. */
function collect(pid: number, base: string, paths: Set<string>, inodes: Set<string>): string | undefined {
  const add = (path: string) => {
    const live = path.replace(/ \(deleted\)$/, "");
    if (live.startsWith(`${base}/`)) paths.add(live.slice(base.length + 1));
  };
  const folder = `/proc/${pid}/fd`;
  try {
    for (const name of readdirSync(folder)) {
      const link = `${folder}/${name}`;
      try {
        // proc(5): the owner's write bit of the link says that the descriptor is open for writing.
        if ((lstatSync(link).mode & 0o200) === 0) continue;
        const target = readlinkSync(link);
        if (!target.startsWith("/") || target.startsWith("/dev/") || target.startsWith("/proc/")) continue;
        add(target);
        // By number too: the program may see the directory under another path (a bind mount, a container's root).
        const stats = statSync(link);
        if (stats.isFile()) inodes.add(`${stats.dev}:${stats.ino}`);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
    for (const line of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
      // address perms offset dev inode path: shared and writable is `?w?s`.
      const [, permissions = "", , , , ...path] = line.split(/ +/);
      if (permissions[1] === "w" && permissions[3] === "s") add(Buffer.from(path.join(" "), "latin1").toString("utf8"));
    }
  } catch (error) {
    if (isGone(error)) return undefined;
    if (["EACCES", "EPERM"].includes(systemCode(error) ?? "")) return `process ${pid} belongs to another user`;
    throw error;
  }
  return undefined;
}

/** The process or descriptor ended between two calls. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ESRCH"].includes(systemCode(error) ?? "");
}
