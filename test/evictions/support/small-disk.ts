import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether file systems can be mounted here. */
export function canMount(): boolean {
  const dir = mkdtempSync(join(tmpdir(), "outlast-mount-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", dir]).status === 0;
  if (isMounted) unmount(dir);
  rmdirSync(dir);
  return isMounted;
}

/** A file system of its own, of at most `size`, at a directory. */
export function mountTmpfs(dir: string, size: string): string {
  mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir);
  return dir;
}

/** Makes a directory read-only, for root too. */
export function mountReadOnly(dir: string): void {
  mount("--bind", dir, dir);
  mount("-o", "remount,ro,bind", dir);
}

export function unmount(dir: string): void {
  // Lazily: a process that is just ending may still have its working directory there.
  spawnSync("umount", ["-l", dir]);
}

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args);
  if (status !== 0) throw new Error(`mount ${args.join(" ")} failed: ${stderr.toString()}`);
}
