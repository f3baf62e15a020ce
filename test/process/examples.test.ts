import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { endDrivers, startDriver } from "../support/driver.ts";
import { needs } from "../support/need.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const env = { ...process.env, PYTHONPATH: join(root, "python") };

/** A Python that has the module. */
function pythonWith(module: string): string | undefined {
  const has = (python: string) => spawnSync(python, ["-c", `import ${module}`]).status === 0;
  return ["/usr/bin/python3", "python3"].find(has);
}

const dirs: string[] = [];
async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "outlast-example-"));
  dirs.push(dir);
  return dir;
}
afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true });
});
afterAll(endDrivers);

interface Example {
  readonly name: string;
  readonly python: string | undefined;
  readonly install: string;
  /** What it says before each eviction. Starting PyTorch takes seconds, so it gets fewer. */
  readonly evictAt: readonly number[];
  readonly args: (dir: string, stepSeconds: number) => readonly string[];
}

const examples: readonly Example[] = [
  {
    name: "numpy",
    python: pythonWith("numpy"),
    install: "apt-get install python3-numpy",
    evictAt: [20, 50, 90],
    args: (dir, stepSeconds) => [dir, "120", "10", String(stepSeconds)],
  },
  {
    name: "pytorch",
    python: pythonWith("torch"),
    install: "apt-get install python3-torch",
    evictAt: [30, 70],
    args: (dir, stepSeconds) => ["--dir", dir, "--steps=120", "--save-every=10", `--step-seconds=${stepSeconds}`],
  },
];

const finalOf = (text: string) => /^final (\w{64})$/m.exec(text)?.[1];

for (const { name, python, install, evictAt, args } of examples) {
  describe.skipIf(!needs(`Python with ${name}`, python !== undefined, install))(`examples/${name}`, () => {
    const command = [python ?? "python3", join(root, "examples", name, "train.py")];
    const [file = "", script = ""] = command;

    test("evicted again and again, it ends with the weights of an undisturbed run", async () => {
      const undisturbed = await run(file, [script, ...args(await newDir(), 0)], { env });
      expect(finalOf(undisturbed.stdout)).toBeDefined();
      const dir = await newDir();
      let before = 0;
      for (const step of evictAt) {
        const driver = startDriver({ command: [...command, ...args(dir, 0.005)], options: { env, graceMs: 5000 } });
        await driver.said(`saved step ${step}`);
        driver.kill("SIGTERM");
        const { code, stdout } = await driver.ended;
        expect(code).toBe(75);
        expect(Number(/resumed at step (\d+)/.exec(stdout)?.[1] ?? 0)).toBeGreaterThanOrEqual(before);
        before = step + 1;
      }
      const last = startDriver({ command: [...command, ...args(dir, 0)], options: { env } });
      const end = await last.ended;
      expect(end.code).toBe(0);
      expect(finalOf(end.stdout)).toBe(finalOf(undisturbed.stdout));
    });
  });
}
