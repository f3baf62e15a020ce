import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createOpenFilesLook, scanDirectory } from "../../src/checkpoint/detect/index.ts";
import { needs } from "../support/need.ts";
import { temporaryDirectory } from "./support.ts";

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) {
    try {
      // Its whole group: it was started as a leader.
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // Already gone.
    }
  }
});

/** Runs a shell script as the leader of its own group and waits until it prints `ready`. */
function run(script: string): Promise<number> {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.stdout?.on("data", (text: Buffer) => {
      if (text.includes("ready")) resolve(child.pid ?? 0);
    });
  });
}

async function openIn(
  root: string,
  pid: number,
  look = createOpenFilesLook(root),
): Promise<readonly string[] | string> {
  const open = look(pid);
  if (!open.known) return open.why;
  const { entries } = await scanDirectory(root);
  return [...entries.values()].filter((entry) => open.has(entry)).map(({ path }) => path);
}

describe.skipIf(!needs("Linux's /proc", process.platform === "linux", "run the tests on Linux"))("open files", () => {
  test("are those open for writing, not those open for reading", async () => {
    const root = temporaryDirectory();
    writeFileSync(join(root, "read"), "x");
    const pid = await run(`cd ${root}; exec 3<read 4>written 5>>appended 6<>both; echo ready; sleep 60`);
    expect(await openIn(root, pid)).toEqual(["appended", "both", "written"]);
  });

  test("are found after a rename, and under another path to the same directory", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, "alias"));
    const pid = await run(`exec 3>${root}/alias/.tmpX; echo ready; sleep 60`);
    renameSync(join(root, "real/.tmpX"), join(root, "real/final"));
    expect(await openIn(join(root, "alias"), pid)).toEqual(["final"]);
  });

  test("are those of grandchildren, also when their parent has ended", async () => {
    const root = temporaryDirectory();
    const pid = await run(`(exec 3>${root}/orphan; echo ready; sleep 60) & sleep 0.2; exit 0`);
    await new Promise((resolve) => children.at(-1)?.on("exit", resolve));
    expect(await openIn(root, pid)).toEqual(["orphan"]);
  });

  test("are those of a daemon that left the session, once it was seen", async () => {
    const root = temporaryDirectory();
    const look = createOpenFilesLook(root);
    const pid = await run(
      `setsid sh -c 'echo $$ > ${root}/pid; exec 3>${root}/daemon; echo ready; exec sleep 20' & wait`,
    );
    expect(await openIn(root, pid, look)).toEqual(["daemon"]);
    process.kill(pid, "SIGKILL");
    await new Promise((resolve) => children.at(-1)?.on("exit", resolve));
    expect(await openIn(root, pid, look)).toEqual(["daemon"]);
    process.kill(Number(readFileSync(join(root, "pid"), "utf8")), "SIGKILL");
  });

  test("include files mapped shared and writable after their descriptor was closed", async () => {
    const root = temporaryDirectory();
    const script = [
      "import mmap,os,sys,time",
      `f=os.open('${root}/mapped',os.O_RDWR|os.O_CREAT); os.ftruncate(f,4096)`,
      "m=mmap.mmap(f,4096); os.close(f); print('ready',flush=True); time.sleep(60)",
    ].join("\n");
    const pid = await run(`exec python3 -c "${script}"`);
    expect(await openIn(root, pid)).toEqual(["mapped"]);
  });

  test("of another program are nobody's business", async () => {
    const root = temporaryDirectory();
    const descriptor = openSync(join(root, "ours"), "w");
    const pid = await run("echo ready; sleep 60");
    expect(await openIn(root, pid)).toEqual([]);
    closeSync(descriptor);
  });

  test("a thousand descriptors are looked through in a moment", async () => {
    const root = temporaryDirectory();
    const open = Array.from({ length: 1000 }, (_, index) => openSync(join(root, `f${index}`), "w"));
    const look = createOpenFilesLook(root);
    look(process.pid);
    const start = performance.now();
    look(process.pid);
    // 17 ms on two busy cores; the bound only catches something going badly wrong.
    expect(performance.now() - start).toBeLessThan(500);
    for (const descriptor of open) closeSync(descriptor);
  });
});
