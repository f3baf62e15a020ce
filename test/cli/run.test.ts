import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckpointsListJson } from "../../src/cli/json/checkpoints.ts";
import { jsonShapes } from "../../src/cli/json/index.ts";
import type { StatusJson } from "../../src/cli/json/status.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";

// Counts, saves every step by temporary file and rename, resumes from what it finds; on SIGTERM exits 0 in the middle.
const trainer = `
  import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
  const [dir, last, paceMs] = process.argv.slice(2);
  const path = dir + "/state.json";
  let step = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).step : 0;
  console.log("from " + step);
  process.on("SIGTERM", () => process.exit(0));
  const next = () => {
    if (step >= Number(last)) return;
    step += 1;
    writeFileSync(path + ".tmp", JSON.stringify({ step }));
    renameSync(path + ".tmp", path);
    console.log("step " + step);
    setTimeout(next, Number(paceMs));
  };
  next();
`;

const demoTrainer = join(import.meta.dirname, "../../src/cli/demo/trainer.ts");

let dir: string;
let store: string;
let ckpt: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-run-"));
  store = join(dir, "store");
  ckpt = join(dir, "ckpt");
  await mkdir(ckpt);
  await writeFile(join(dir, "train.mjs"), trainer);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const train = (last: number, paceMs: number) => [
  process.execPath,
  join(dir, "train.mjs"),
  ckpt,
  String(last),
  String(paceMs),
];
const run = (flags: readonly string[], command: readonly string[], env?: Record<string, string>) =>
  startOutlast(["run", "--store", store, "--dir", ckpt, "--notice", "signal", ...flags, "--", ...command], {
    cwd: dir,
    ...(env ? { env } : {}),
  });

async function json<T>(args: readonly string[], shape: string): Promise<{ code: number; value: T }> {
  const { code, stdout } = await runOutlast([...args, "--json"], { cwd: dir });
  const value = JSON.parse(stdout) as T;
  jsonShapes[shape]?.parse(value);
  return { code, value };
}

const list = async () =>
  (await json<CheckpointsListJson>(["checkpoints", "list", "--store", store, "--run", "r"], "checkpoints list")).value;
const status = async () =>
  (await json<StatusJson>(["status", "--store", store, "--run", "r"], "status (with --run)")).value;

describe("outlast run", () => {
  test("ships what the program saved, passes its output through untouched, and tells the story afterwards", async () => {
    const { code, stdout, stderr } = await run(["--run", "r"], train(3, 20)).ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toBe("from 0\nstep 1\nstep 2\nstep 3\n");
    const { checkpoints, finished } = await list();
    expect(finished).toBe(true);
    expect(checkpoints[0]).toMatchObject({ state: "good", files: 1, shards: 1 });
    expect((await status()).attempts).toMatchObject([{ attempt: 1, end: "finished", exitCode: 0, resumedStep: null }]);

    const pulled = join(dir, "pulled");
    expect((await runOutlast(["checkpoints", "pull", "--store", store, "--run", "r", "--to", pulled])).code).toBe(0);
    expect(JSON.parse(await readFile(join(pulled, "state.json"), "utf8"))).toEqual({ step: 3 });
  });

  test("exits 75 on SIGTERM though the program exits 0, and the next start resumes from the store alone", async () => {
    const first = run(["--run", "r"], train(1000, 30));
    await first.says("step 5\n");
    first.kill("SIGTERM");
    const { code, stdout, stderr } = await first.ended;
    expect(code, stderr).toBe(75);
    const reached = Number(stdout.trim().split(" ").at(-1));

    await rm(ckpt, { recursive: true });
    await mkdir(ckpt);
    const second = await run(["--run", "r"], train(reached + 2, 10)).ended;
    expect(second.code, second.stderr).toBe(0);
    expect(second.stdout).toMatch(new RegExp(`^from ${reached}\n`));
    const { attempts, evictions } = await status();
    expect(evictions).toBe(1);
    expect(attempts).toMatchObject([{ end: "evicted", noticeSource: "signal", exitCode: 75 }, { end: "finished" }]);
    expect(attempts[0]?.noticeToExitMs).toBeLessThan(5000);
  });

  test("passes the program's own code on", async () => {
    expect((await run(["--run", "r"], ["sh", "-c", "exit 3"]).ended).code).toBe(3);
  });

  test("a finished run is not started again, unless asked", async () => {
    await run(["--run", "r"], train(1, 0)).ended;
    const second = await run(["--run", "r"], train(1, 0)).ended;
    expect([second.code, second.stdout]).toEqual([0, ""]);
    const again = await run(["--run", "r", "--again"], ["echo", "again"]).ended;
    expect([again.code, again.stdout]).toEqual([0, "again\n"]);
  });

  test("derives the same name from the same directory and command, and says it", async () => {
    const command = ["sh", "-c", "true"];
    const names = [];
    for (let i = 0; i < 2; i += 1) {
      const { stderr } = await run(["--log-format", "json"], command).ended;
      names.push((JSON.parse(stderr.split("\n")[0] ?? "") as { run: string }).run);
    }
    expect(names[0]).toMatch(/^ckpt-[0-9a-f]{10}$/);
    expect(names[1]).toBe(names[0]);
    expect(await readdir(store)).toContain(names[0]);
  });

  test("--per-index makes an independent run of each index", async () => {
    for (const index of ["0", "1"]) {
      const { code, stderr } = await run(["--run", "r", "--per-index"], ["true"], { JOB_COMPLETION_INDEX: index })
        .ended;
      expect(code, stderr).toBe(0);
    }
    const { value } = await json<{ runs: { run: string }[] }>(["status", "--store", store], "status (without --run)");
    expect(value.runs.map((one) => one.run)).toEqual(["r-0", "r-1"]);
  });

  test.each([
    ["a missing directory", ["--dir", "/nonexistent/ckpt"], ["true"], /error: .*\/nonexistent\/ckpt.*\n\nhint: /],
    ["a program that is not there", [], ["no-such-program-anywhere"], /error: .*no-such-program-anywhere.*\n\nhint: /],
    ["an unreadable end", ["--ends-at", "tomorrow"], ["true"], /error: --ends-at "tomorrow"/],
  ])("%s is an error with a hint and exit 2", async (_, flags, command, message) => {
    const { code, stderr } = await run(["--run", "r", "--log-level", "error", ...flags], command).ended;
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  test("inside Kubernetes a name is required before anything is touched", async () => {
    const { code, stderr } = await run([], ["true"], { KUBERNETES_SERVICE_HOST: "10.0.0.1" }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("--run is required inside Kubernetes");
    await expect(readdir(store)).rejects.toThrow("ENOENT");
  });
});

describe("looking after checkpoints", () => {
  test("pinning, pruning, verifying and finding damage", async () => {
    const flags = [`--dir=${ckpt}`, "--steps=10000", "--save-every=30", "--pace-ms=25"];
    const supervised = run(["--run", "r", "--keep", "9"], [process.execPath, demoTrainer, ...flags]);
    await supervised.says(/(committed[^]*){3}/);
    supervised.kill("SIGTERM");
    await supervised.ended;
    const steps = (await list()).checkpoints.map(({ step }) => step);
    expect(steps.length).toBeGreaterThanOrEqual(3);
    const oldest = steps.at(-1) ?? 0;
    const of = ["--store", store, "--run", "r"];

    await runOutlast(["checkpoints", "pin", ...of, "--step", String(oldest)]);
    const dry = await json<{ dropped: object[] }>(
      ["checkpoints", "prune", ...of, "--keep", "2", "--dry-run"],
      "checkpoints prune",
    );
    expect((await list()).checkpoints).toHaveLength(steps.length);
    const real = await json<{ dropped: object[] }>(["checkpoints", "prune", ...of, "--keep", "2"], "checkpoints prune");
    expect(real.value.dropped).toEqual(dry.value.dropped);
    const left = (await list()).checkpoints;
    expect(left.map(({ step, pinned }) => [step, pinned])).toEqual([
      [steps[0], false],
      [steps[1], false],
      ...(steps.length > 2 ? [[oldest, true]] : []),
    ]);

    expect((await json(["checkpoints", "verify", ...of], "checkpoints verify")).code).toBe(0);
    await damageOneChunk(join(store, "r", "chunks"));
    const bad = await json<{ ok: boolean }>(["checkpoints", "verify", ...of], "checkpoints verify");
    expect([bad.code, bad.value.ok]).toEqual([1, false]);
  });

  test("a run that is not there is an error with a hint", async () => {
    await run(["--run", "r"], ["true"]).ended;
    const { code, stdout, stderr } = await runOutlast(["checkpoints", "list", "--store", store, "--run", "nobody"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: .*nobody.*\n\nhint: /);
  });
});

async function damageOneChunk(chunks: string): Promise<void> {
  const names = await readdir(chunks, { recursive: true, withFileTypes: true });
  const file = names.find((entry) => entry.isFile());
  if (!file) throw new Error("there is no chunk to damage");
  const path = join(file.parentPath, file.name);
  const bytes = await readFile(path);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  await rm(path);
  await writeFile(path, bytes);
}
