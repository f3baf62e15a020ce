import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { type CompleteCheckpoint, createDetector, type Detector } from "../../src/checkpoint/detect/index.ts";
import { systemClock } from "../../src/core/index.ts";
import { needs } from "../support/need.ts";
import { temporaryDirectory } from "./support.ts";

const soak = process.env["OUTLAST_SOAK"] !== undefined;
const writers = fileURLToPath(new URL("writers", import.meta.url));
const debianPython = "/usr/bin/python3";
const orbaxPython = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "outlast-test/venv/bin/python");

const hasTorch = existsSync("/usr/lib/python3/dist-packages/torch");
const hasOrbax = existsSync(orbaxPython);
const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts a writer as leader of its own group and waits until it is about to save. */
async function start(python: string, script: string, ...parameters: readonly string[]): Promise<ChildProcess> {
  const child = spawn(python, [join(writers, script), ...parameters], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${script} ended with ${code}`)));
    child.stdout?.on("data", (text: Buffer) => {
      if (text.includes("ready")) resolve();
    });
  });
  return child;
}

/** Copies a checkpoint the moment it is reported; undefined when it changed meanwhile, as a shipper would find. */
async function take(
  detector: Detector,
  root: string,
  into: string,
  checkpoint: CompleteCheckpoint,
): Promise<string | undefined> {
  const copy = mkdtempSync(join(into, "copy-"));
  try {
    for (const { path, type } of checkpoint.entries) {
      if (type === "directory") mkdirSync(join(copy, path), { recursive: true });
      else {
        mkdirSync(dirname(join(copy, path)), { recursive: true });
        copyFileSync(join(root, path), join(copy, path));
      }
    }
  } catch (error) {
    // Rotated away while it was copied: normal, and the recheck says so.
    if (await detector.recheck(checkpoint)) throw error;
    return undefined;
  }
  return (await detector.recheck(checkpoint)) ? copy : undefined;
}

/** Watches a writer to its end (or kills it) and returns copies of all that was reported complete. */
async function watch(child: ChildProcess, root: string, options: { readonly killAfterMs?: number } = {}) {
  const into = temporaryDirectory();
  const detector = createDetector({ root, clock: systemClock });
  const taken = new Map<string, string>();
  let ended: "running" | "exited" | "died" = "running";
  child.on("exit", (code) => {
    ended = code === 0 ? "exited" : "died";
  });
  const kill =
    options.killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), options.killAfterMs);
  for (let isLast = false; !isLast; ) {
    isLast = ended !== "running";
    const reported = await detector.poll(
      ended === "running" ? { state: "running", pid: child.pid ?? 0 } : { state: ended },
    );
    for (const checkpoint of reported) {
      if (taken.has(checkpoint.fingerprint)) continue;
      const copy = await take(detector, root, into, checkpoint);
      if (copy !== undefined) taken.set(checkpoint.fingerprint, join(copy, checkpoint.path));
    }
    if (!isLast) await systemClock.sleep(200);
  }
  clearTimeout(kill);
  return { paths: [...taken.values()], ended };
}

const seconds = soak ? 120 : 6;

describe.skipIf(!needs("Debian's PyTorch", hasTorch, "apt-get install python3-torch (tools/test-deps.sh)"))(
  "torch.save",
  () => {
    test.concurrent.each(soak ? ["in-place", "stepped", "renamed"] : ["in-place", "stepped"])(
      "%s: everything called complete loads",
      { timeout: (seconds + 60) * 1000 },
      async (how) => {
        const root = temporaryDirectory();
        const child = await start(debianPython, "torch_writer.py", root, String(seconds), how);
        const { paths, ended } = await watch(child, root);
        expect(ended).toBe("exited");
        expect(paths.length).toBeGreaterThanOrEqual(1);
        const steps = execFileSync(debianPython, [join(writers, "torch_loader.py"), ...paths], { encoding: "utf8" })
          .trim()
          .split("\n");
        expect(steps).toHaveLength(paths.length);
      },
    );

    test.concurrent.each(soak ? [3001, 3333, 3777] : [3333])(
      "killed after %i ms while saving without pause: what is left and called complete loads",
      { timeout: 60_000 },
      async (killAfterMs) => {
        const root = temporaryDirectory();
        const child = await start(debianPython, "torch_writer.py", root, "60", "in-place");
        const { paths } = await watch(child, root, { killAfterMs });
        if (paths.length > 0) execFileSync(debianPython, [join(writers, "torch_loader.py"), ...paths]);
      },
    );
  },
);

describe.skipIf(!needs("orbax-checkpoint", hasOrbax, "tools/test-deps.sh"))("Orbax", () => {
  test.concurrent("everything called complete restores, and every step that stayed was found", {
    timeout: (seconds + 120) * 1000,
  }, async () => {
    const root = temporaryDirectory();
    const child = await start(orbaxPython, "orbax_writer.py", root, String(seconds));
    const { paths, ended } = await watch(child, root);
    expect(ended).toBe("exited");
    expect(paths.length).toBeGreaterThanOrEqual(3);
    const left = readdirSync(root).filter((name) => /^\d+$/.test(name));
    expect(paths.map((path) => basename(path))).toEqual(expect.arrayContaining(left));
    const roots = paths.map((path) => dirname(path));
    const steps = execFileSync(orbaxPython, [join(writers, "orbax_loader.py"), ...roots], { encoding: "utf8" })
      .trim()
      .split("\n");
    expect(steps).toHaveLength(paths.length);
  });

  test.concurrent("killed in the middle: what is left and called complete restores", { timeout: 120_000 }, async () => {
    const root = temporaryDirectory();
    const child = await start(orbaxPython, "orbax_writer.py", root, "60");
    const { paths } = await watch(child, root, { killAfterMs: 2_345 });
    if (paths.length > 0)
      execFileSync(orbaxPython, [join(writers, "orbax_loader.py"), ...paths.map((path) => dirname(path))]);
  });
});
