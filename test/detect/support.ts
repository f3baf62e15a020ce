import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];

afterAll(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** A fresh directory, removed after the last test of the file. */
export function temporaryDirectory(base: string = tmpdir()): string {
  const path = mkdtempSync(join(base, "outlast-detect-"));
  made.push(path);
  return path;
}

/** Writes files, with the folders they need. */
export function writeTree(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

/** Waits for the kernel's time stamps to move on; they step by up to 10 ms. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}
