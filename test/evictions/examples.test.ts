import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { needs } from "../support/need.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const python = "/usr/bin/python3";
const has = (module: string) => spawnSync(python, ["-c", `import ${module}`]).status === 0;
const cases = [
  {
    name: "pytorch",
    // Saves when it is told to stop, and says so.
    args: (dir: string, seconds: string) => ["--dir", dir, "--step-seconds", seconds, "--resume={resume}"],
    isThere: needs("PyTorch for /usr/bin/python3", has("torch"), "apt-get install python3-torch"),
  },
  {
    name: "numpy",
    // Dies of the signal; knows nothing of outlast.
    args: (dir: string, seconds: string) => [dir, "600", "100", seconds],
    isThere: needs("NumPy for /usr/bin/python3", has("numpy"), "apt-get install python3-numpy"),
  },
];
const folder = mkdtempSync(join(tmpdir(), "outlast-examples-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Case = (typeof cases)[number];

/** One start on a fresh machine; told to stop once it has saved `saves` times. */
function start({ name, args }: Case, attempt: number, saves: number): Promise<{ code: number | null; output: string }> {
  const dir = join(folder, `${name}-${attempt}`);
  mkdirSync(dir);
  const train = [python, join(root, "examples", name, "train.py"), ...args(dir, "0.01")];
  const run = ["run", "--store", join(folder, "store"), "--dir", dir, "--run", name, "--", ...train];
  const env = { ...process.env, PYTHONPATH: join(root, "python") };
  const child = spawn(join(root, "bin/outlast"), run, { env, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (text: Buffer) => {
    output += text.toString();
    if (output.split("saved step").length > saves) child.kill("SIGTERM");
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

describe.each(cases)("the $name example under outlast run", (one) => {
  const { name, args, isThere } = one;
  test.skipIf(!isThere)(
    "is evicted twice, resumes at the very step, and ends as if it never was",
    { timeout: 90_000 },
    async () => {
      const undisturbed = args(join(folder, name), "0").filter((argument) => !argument.includes("{resume}"));
      const alone = spawnSync(python, [join(root, "examples", name, "train.py"), ...undisturbed], { encoding: "utf8" });
      const final = /final \w+/.exec(alone.stdout)?.[0];
      expect(final, alone.stderr).toBeDefined();
      const first = await start(one, 1, 2);
      expect(first.code).toBe(75);
      const second = await start(one, 2, 2);
      expect(second.code).toBe(75);
      const last = await start(one, 3, 1000);
      expect(last.code).toBe(0);
      expect(last.output).toContain(final);
      for (const [before, after] of [
        [first, second],
        [second, last],
      ] as const) {
        const saved = Number([...before.output.matchAll(/saved step (\d+)/g)].at(-1)?.[1]);
        expect(after.output).toContain(`resumed at step ${saved + 1}`);
      }
    },
  );
});
