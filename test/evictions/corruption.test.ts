import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { recordKey } from "../../src/checkpoint/log/record.ts";
import { Random, testSeed } from "./support/random.ts";
import { Scene } from "./support/scene.ts";
import { test } from "./support/scene-test.ts";
import { copyStore, headOf, readManifest, resumedFrom, run, startAfresh, storeRun } from "./support/stored-run.ts";
import { referenceStates } from "./support/trainer.ts";

const original = new Scene();
const random = new Random(testSeed("corruption"));
beforeAll(() => storeRun(original, 3), 60_000);
afterAll(() => original.end());

/** Ways to harm a file; `other` is one of the same kind. */
const harms = {
  "a flipped bit in": (path: string) => {
    const bytes = readFileSync(path);
    const at = Math.floor(random.next() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
    writeFileSync(path, bytes);
  },
  "a truncated": (path: string) =>
    writeFileSync(path, readFileSync(path).subarray(0, Math.floor(random.next() * readFileSync(path).length))),
  "an empty": (path: string) => writeFileSync(path, ""),
  "a missing": (path: string) => rmSync(path),
  "a swapped": (path: string, other: string) => writeFileSync(path, readFileSync(other)),
};
const names = Object.keys(harms) as (keyof typeof harms)[];

/** Paths of the newest checkpoint's objects, and of an older one's. */
function objects(store: string) {
  const head = headOf(store);
  const [older, newest] = head.state.commits.slice(-2);
  if (!older || !newest) throw new Error("two commits are needed");
  const at = (key = "") => join(store, run, key);
  const old = new Set(
    head.state.commits.slice(0, -1).flatMap((commit) => readManifest(store, commit).chunks.map(({ key }) => key)),
  );
  const own = readManifest(store, newest)
    .chunks.map(({ key }) => key)
    .find((key) => !old.has(key));
  return {
    chunk: [at(own), at([...old][0])],
    manifest: [at(newest.manifests[0]?.key), at(older.manifests[0]?.key)],
    record: [at(recordKey(head.n)), at(recordKey(head.n - 1))],
    steps: head.state.commits.map(({ step }) => step),
  } as const;
}

describe.concurrent("harm done to a stored run before a start", () => {
  for (const what of ["chunk", "manifest"] as const) {
    test.for(names)(`%s ${what}: the next older checkpoint is used, loudly`, async (harm, { scene }) => {
      copyStore(original, scene);
      const { steps, ...paths } = objects(scene.store);
      harms[harm](paths[what][0], paths[what][1]);
      const { code, start, log } = await startAfresh(scene);
      expect(code, start.output).toBe(0);
      expectTrueState(log, steps.at(-2));
      const told = start.lines.filter(({ severity, message }) => severity === "WARNING" && message.includes("damaged"));
      expect(told.map((line) => line["step"])).toEqual([steps.at(-1)]);
    });
  }

  test.for(names.filter((harm) => harm !== "a missing"))(
    "%s newest log record: refused with 76",
    async (harm, { scene }) => {
      copyStore(original, scene);
      const [record, other] = objects(scene.store).record;
      harms[harm](record, other);
      const { code, start, log } = await startAfresh(scene);
      expect(code, start.output).toBe(76);
      expect(resumedFrom(log)).toBeUndefined();
      expect(start.output).toMatch(/\nhint: /);
    },
  );

  test("a missing newest log record: refused, or resumed on a whole checkpoint", async ({ scene }) => {
    copyStore(original, scene);
    const { record, steps } = objects(scene.store);
    rmSync(record[0]);
    const { code, start, log } = await startAfresh(scene);
    const resumed = resumedFrom(log);
    // Which of the two depends on whether the hint had been written after it.
    if (code === 76) expect(resumed).toBeUndefined();
    else {
      expect(code, start.output).toBe(0);
      expect(steps).toContain(resumed?.step);
      expectTrueState(log, resumed?.step);
    }
  });

  test.for(names)("%s latest.json changes nothing", async (harm, { scene }) => {
    copyStore(original, scene);
    const { steps, record } = objects(scene.store);
    const hint = join(scene.store, run, "latest.json");
    expect(existsSync(hint)).toBe(true);
    harms[harm](hint, record[1]);
    const { code, start, log } = await startAfresh(scene);
    expect(code, start.output).toBe(0);
    expectTrueState(log, steps.at(-1));
    expect(start.output).not.toContain("damaged");
  });

  test("every checkpoint damaged: refused with 76, again and again, and nothing is deleted", async ({ scene }) => {
    copyStore(original, scene);
    const { commits } = headOf(scene.store).state;
    for (const commit of commits) {
      for (const { key } of readManifest(scene.store, commit).chunks)
        harms["a flipped bit in"](join(scene.store, run, key));
    }
    for (const _ of [1, 2]) {
      const { code, start, log, dir } = await startAfresh(scene);
      expect(code, start.output).toBe(76);
      expect(resumedFrom(log)).toBeUndefined();
      expect(existsSync(join(dir, "checkpoint-60"))).toBe(false);
    }
    expect(headOf(scene.store).state.commits.map(({ step }) => step)).toEqual(commits.map(({ step }) => step));
  });

  test("a lost log: refused with 76", async ({ scene }) => {
    copyStore(original, scene);
    rmSync(join(scene.store, run, "log"), { recursive: true });
    rmSync(join(scene.store, run, "latest.json"));
    const { code, start, log } = await startAfresh(scene);
    expect(code, start.output).toBe(76);
    expect(resumedFrom(log)).toBeUndefined();
  });
});

function expectTrueState(log: string, step: number | undefined): void {
  const resumed = resumedFrom(log);
  expect(resumed?.step).toBe(step);
  const truth = referenceStates(9, [{ event: "start", step: step ?? 0, pid: 0, attempt: 0, at: 0 }]);
  expect(resumed?.hash).toBe(truth.get(step ?? 0));
}
