import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckpointsCopyJson } from "../../src/cli/json/checkpoints.ts";
import { jsonShapes } from "../../src/cli/json/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "../protocol/machine.ts";
import { hasVersitygw, startVersitygw } from "../servers/s3.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outlast-copy-"));
  await fill("from", async (machine) => {
    for (const step of [100, 200]) await machine.commit(step, { weights: `weights of ${step}` });
  });
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Lets a machine work on run r and puts what it stored into a directory. */
async function fill(folder: string, work: (machine: Machine) => Promise<void>): Promise<void> {
  const memory = new MemoryStore();
  const machine = new Machine(memory);
  await machine.start();
  await work(machine);
  const store = await openStore(join(cwd, folder), { access: "write" });
  for (const [key, body] of memory.objects) await store.put(key, body);
}

const copy = (...flags: string[]) =>
  runOutlast(["checkpoints", "copy", "--store", "from", "--run", "r", "--to-store", "to", ...flags], { cwd });

async function copyJson(...flags: string[]): Promise<{ code: number; value: CheckpointsCopyJson }> {
  const { code, stdout } = await copy("--json", ...flags);
  const value = JSON.parse(stdout) as CheckpointsCopyJson;
  jsonShapes["checkpoints copy"]?.parse(value);
  return { code, value };
}

async function content(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, await readFile(path, "latin1"));
  }
  return files;
}

test("copies, says so, and leaves the source alone", async () => {
  const before = await content(join(cwd, "from"));
  const { code, stdout, stderr } = await copy();
  expect([code, stderr]).toEqual([0, ""]);
  expect(
    stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?|\d{4}-\d\d-\d\dT\S+/g, "TIME").replaceAll(cwd, "CWD"),
  ).toMatchInlineSnapshot(`
    "copied 2 to run r in CWD/to:
    STEP  SIZE  FILES  COMMITTED                 STATE
     200  14 B      1  TIME  good
     100  14 B      1  TIME  good

    28 B sent
    "
  `);
  expect(await content(join(cwd, "from"))).toEqual(before);
  const pulled = await runOutlast(["checkpoints", "pull", "--store", "to", "--run", "r", "--to", "out"], { cwd });
  expect(pulled.code).toBe(0);
  expect(await readFile(join(cwd, "out", "weights"), "utf8")).toBe("weights of 200");

  expect((await copy()).stdout).toBe(`run r in ${join(cwd, "to")} is up to date\n`);
});

test("as JSON; a dry run writes nothing, even where there is no store yet", async () => {
  const dry = await copyJson("--dry-run");
  expect(dry).toMatchObject({ code: 0, value: { dryRun: true, sentBytes: 0, copied: [{ step: 100 }, { step: 200 }] } });
  expect(await readdir(cwd)).toEqual(["from"]);
  const real = await copyJson("--to-run", "branch", "--step", "100");
  expect(real).toMatchObject({
    code: 0,
    value: { run: "r", toRun: "branch", dryRun: false, finished: false, sentBytes: 14, copied: [{ step: 100 }] },
  });
  expect(await readdir(join(cwd, "to"))).toContain("branch");
});

test("a damaged checkpoint is left out, and the exit code says so", async () => {
  const files = await content(join(cwd, "from/r/chunks"));
  const [chunk = ""] = [...files.entries()].find(([, text]) => text === "weights of 100") ?? [];
  await rm(chunk);
  const { code, value } = await copyJson();
  expect(code).toBe(1);
  expect(value.copied.map(({ step }) => step)).toEqual([200]);
  expect(value.leftOut).toEqual([{ step: 100, reason: "damaged", why: expect.stringContaining("is missing") }]);
});

test("a run of its own in the target is refused with what to do", async () => {
  await fill("to", () => Promise.resolve());
  const { code, stderr } = await copy();
  expect(code).toBe(2);
  expect(stderr).toContain("cannot take a copy");
  expect(stderr).toContain("--to-run");
});

test("a run that is not there is refused", async () => {
  const { code, stderr } = await runOutlast(
    ["checkpoints", "copy", "--store", "from", "--run", "other", "--to-store", "to"],
    { cwd },
  );
  expect(code).toBe(2);
  expect(stderr).toContain("there is no run other");
});

describe.skipIf(!hasVersitygw())("from a directory to S3", () => {
  test("the program goes on there", async () => {
    const server = await startVersitygw();
    try {
      const url = await server.createBucket("copies");
      const env = { ...server.env };
      const copied = await startOutlast(["checkpoints", "copy", "--store", "from", "--run", "r", "--to-store", url], {
        cwd,
        env,
      }).ended;
      expect(copied.code, copied.stderr).toBe(0);
      await mkdir(join(cwd, "ckpt"));
      const look = 'cat ckpt/weights; echo " at $OUTLAST_RESUME_STEP"';
      const resumed = await startOutlast(
        ["run", "--store", url, "--run", "r", "--dir", "ckpt", "--notice", "signal", "--", "sh", "-c", look],
        { cwd, env },
      ).ended;
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(resumed.stdout).toBe("weights of 200 at 200\n");
    } finally {
      await server.stop();
    }
    // Two processes of ours and a server: on a busy machine they need their time.
  }, 120_000);
});
