import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { timeShell } from "./commands.ts";

/** A temporary folder and the means to make every run start from the same state. */
export interface Workspace {
  readonly folder: string;
  /** Deletes `remove`, syncs, reads `read` into the page cache, waits for a quiet machine, touches and frees memory. */
  settle(options: { readonly remove: readonly string[]; readonly read: string }): Promise<void>;
  dispose(): Promise<void>;
}

/** First touch of guest memory can be slow; touching it beforehand evens that out between contenders. */
const touchedBytes = 5 * 1024 ** 3;
const quietShare = 0.92;
const longestWaitMs = 15_000;

/** Makes a workspace below `parent`. */
export async function createWorkspace(parent: string): Promise<Workspace> {
  const folder = await mkdtemp(join(parent, "outlast-bench-"));
  return {
    folder,
    dispose: () => rm(folder, { recursive: true, force: true }),
    settle: async ({ remove, read }) => {
      for (const path of remove) await rm(path, { recursive: true, force: true });
      await timeShell(`sync -f '${folder}'`);
      if (existsSync(read)) await readAll(read);
      await waitForQuiet();
      await touchMemory();
    },
  };
}

async function readAll(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) await timeShell(`cat '${join(entry.parentPath, entry.name)}' > /dev/null`);
  }
}

function touchMemory(): Promise<void> {
  const program = `for (let left = ${touchedBytes}; left > 0; left -= 2 ** 30) (globalThis.kept ??= []).push(Buffer.alloc(2 ** 30, 1))`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

/** Waits until the processors were nearly idle for a second and a half; gives up on a machine that never is. */
async function waitForQuiet(): Promise<void> {
  for (let waited = 0; waited < longestWaitMs; waited += 1500) {
    const before = times();
    await sleep(1500);
    const after = times();
    if ((after.idle - before.idle) / (after.all - before.all) >= quietShare) return;
  }
}

function times(): { idle: number; all: number } {
  let idle = 0;
  let all = 0;
  for (const { times: t } of cpus()) {
    idle += t.idle;
    all += t.idle + t.user + t.sys + t.nice + t.irq;
  }
  return { idle, all };
}

/** How busy the machine is with other things, for the report. */
export async function loadAverage(): Promise<string> {
  return (await readFile("/proc/loadavg", "utf8")).split(" ").slice(0, 3).join(" ");
}
