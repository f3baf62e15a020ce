import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { execFile, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { needs } from "../support/need.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";

const root = join(import.meta.dirname, "../..");
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const queue = ["--queue", "sqlite:jobs.db"] as const;
const labels = "id,label,score\nr1,positive,3\nr2,negative,-2\nr3,negative,-0.5\nr4,positive,3\n";
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-batch-example-"));
  await cp(join(root, "examples"), dir, { recursive: true });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function workOff(cwd: string, ...args: readonly string[]): Promise<string> {
  await runOutlast(["publish", "../batch-python/reviews.csv", ...queue, "--id", "review"], { cwd });
  const { code, stderr } = await startOutlast(["work", ...queue, "--until-drained", ...args], { cwd }).ended;
  expect(code, stderr).toBe(0);
  expect((await runOutlast(["queue", "audit", ...queue], { cwd })).code).toBe(0);
  return (await runOutlast(["queue", "export", ...queue, "--format", "csv"], { cwd })).stdout;
}

describe.skipIf(!needs("Python", hasPython, "apt-get install python3"))("the Python handler", () => {
  test.each([[[]], [["--batch"]]])("labels every review, with flags %j", async (flags) => {
    const exported = await workOff(join(dir, "batch-python"), ...flags, "--", "python3", "infer.py");
    expect(exported.replaceAll(".0", "")).toBe(labels);
  });

  test("runs by itself, as its page says", () => {
    const input = '{"id":"x","data":{"text":"good"}}\n{"id":"y","data":{}}\n';
    const { stdout } = spawnSync("python3", ["infer.py"], { cwd: join(dir, "batch-python"), input, encoding: "utf8" });
    expect(stdout.split("\n")).toEqual([
      '{"id": "x", "result": {"label": "positive", "score": 1.0}}',
      '{"id": "y", "error": "there is no text", "permanent": true}',
      "",
    ]);
  });
});

test("the TypeScript handler labels every review", async () => {
  const exported = await workOff(join(dir, "batch-typescript"), "--handler", "infer.ts");
  expect(exported).toBe(labels.replace("-0.5", "-1"));
});

test("the library publishes, works and audits", async () => {
  const main = join(dir, "batch-library/main.ts");
  const text = await readFile(main, "utf8");
  // As installed it would come from the package.
  await writeFile(
    main,
    text.replace('"outlast/batch"', JSON.stringify(pathToFileURL(join(root, "src/batch.ts")).href)),
  );
  const args = [main, `sqlite:${join(dir, "jobs.db")}`, join(dir, "batch-typescript/infer.ts")];
  const first = await promisify(execFile)(process.execPath, args);
  expect(first.stdout).toBe("published 100, known before 0\ndrained: 100 done, 0 missing, 0 twice\n");
  const again = await promisify(execFile)(process.execPath, args);
  expect(again.stdout).toBe("published 0, known before 100\ndrained: 0 done, 0 missing, 0 twice\n");
});
