import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { parseManifestKey } from "../../src/checkpoint/manifest-codec.ts";
import { runOutlast } from "../support/run-outlast.ts";
import { checkEvictions } from "./support/check-loop.ts";
import { EvictionLoop } from "./support/eviction-loop.ts";
import { Gang } from "./support/gang.ts";
import { until } from "./support/processes.ts";
import { Random, testSeed } from "./support/random.ts";
import { Scene } from "./support/scene.ts";
import { readStoreLog } from "./support/store-log.ts";
import { readTrainerLog, referenceStates } from "./support/trainer.ts";

const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const scene = new Scene();
const seed = testSeed("fleet");
afterAll(() => scene.end());

// Sweep and gangs run at the same time: each waits more than it works.
const sweep = Array.from({ length: 8 }, (_, index) => {
  const loop = new EvictionLoop(scene, new Random(seed + index), {
    run: "sweep",
    name: `sweep-${index}`,
    flags: ["--per-index"],
    env: { JOB_COMPLETION_INDEX: String(index) },
    evictions: isSoak ? 20 : 3,
    longestMs: 2500,
    trainer: {
      format: "marker",
      steps: 4000 + 100 * index,
      every: 25 + 5 * index,
      paceMs: 4 + 3 * index,
      saveMs: 2,
      seed: 100 + index,
    },
  });
  const over = loop.run();
  over.catch(() => {});
  return { index, loop, over };
});
const gang = new Gang(scene, "gang", { of: 4, every: 50, paceMs: 12 });
const disturbed = disturb(gang, new Random(seed + 50), isSoak ? 60 : 5);
disturbed.catch(() => {});

describe("a sweep of independent indexes", () => {
  test.for(sweep)(
    "index $index resumes its own steps and ends right",
    { timeout: 300_000 },
    async ({ index, loop, over }) => {
      const final = await over;
      expect((await final.ended).code, final.output).toBe(0);
      const events = readTrainerLog(loop.log);
      const end = events.at(-1);
      const truth = referenceStates(100 + index, [
        ...events,
        { event: "start", step: 4000 + 100 * index, pid: 0, attempt: 0, at: 0 },
      ]);
      expect(existsSync(loop.result) && readFileSync(loop.result, "utf8")).toBe(truth.get(4000 + 100 * index));
      expect([end?.event, end?.step]).toEqual(["end", 4000 + 100 * index]);
      const { faults } = checkEvictions(
        loop.evictions,
        events,
        { lagMs: 4000, isProven: true, savesOnTerm: false },
        truth,
      );
      expect(faults).toEqual([]);
      const verify = await runOutlast(["checkpoints", "verify", "--store", scene.store, "--run", `sweep-${index}`]);
      expect(verify.code, verify.stdout).toBe(0);
    },
  );
});

describe("a gang of four shards whose members are killed at random", () => {
  test("never resumes shards of two pasts together, and all four end with 0", { timeout: 300_000 }, async () => {
    await disturbed;
    const { meetings, codes, outputs } = gang;
    expect(
      meetings.filter(({ isOne }) => !isOne),
      outputs.join("\n"),
    ).toEqual([]);
    // Every past is a branch of one tree: what is resumed was the present of the meeting it names last.
    for (const { lineage } of meetings) {
      const parent = meetings.find(({ called }) => called === lineage.at(-1));
      if (lineage.length > 0) expect(parent?.lineage).toEqual(lineage.slice(0, -1));
    }
    expect(codes.map((all) => all.at(-1))).toEqual([0, 0, 0, 0]);
    expect(readFileSync(`${gang.meet}/ends`, "utf8").trim().split("\n").length).toBeGreaterThanOrEqual(4);
    const resumed = meetings.filter(({ step }) => step > 0).length;
    const commits = readStoreLog(scene.store, "gang").filter(({ body }) => body.kind === "commit");
    process.stderr.write(
      `gang: ${codes.flat().length} starts, ${meetings.length} gangs, ${resumed} resumed from a checkpoint, ${commits.length} commits\n`,
    );
    expect(resumed).toBeGreaterThan(1);
    // Also those that nobody happened to resume from.
    for (const { n, body } of commits) {
      if (body.kind !== "commit") continue;
      const gangs = body.manifests.map(({ key }) => parseManifestKey(key)?.gang);
      expect(gangs, `commit ${n}`).toEqual(Array.from({ length: 4 }, () => body.gang));
    }
    const verify = await runOutlast(["checkpoints", "verify", "--store", scene.store, "--run", "gang"]);
    expect(verify.code, verify.stdout).toBe(0);
  });

  test("leaves nothing running", () => {
    expect(scene.processes()).toEqual([]);
  });
});

/** Evicts members again and again, waiting in between for the gang to stand and save, then lets it finish. */
async function disturb(target: Gang, random: Random, evictions: number): Promise<void> {
  const running = target.run();
  const failed = running.then(
    () => {},
    () => {},
  );
  let isOver = false;
  void failed.then(() => (isOver = true));
  const committed = () =>
    existsSync(`${scene.store}/gang/log`)
      ? readStoreLog(scene.store, "gang").filter(({ body }) => body.kind === "commit").length
      : 0;
  for (let n = 0; n < evictions && !isOver; n += 1) {
    const [met, saved] = [target.meetings.length, committed()];
    // Mostly when there is something new to lose; now and then while the gang is still forming.
    if (random.next() < 0.7)
      await until(
        "the gang to stand and commit",
        () => isOver || (target.meetings.length > met && committed() > saved),
        60_000,
      );
    await sleep(random.between(0, 900));
    const shard = Math.floor(random.next() * 4);
    await target.evict(shard, random.pick(["term", "kill-all", "kill-supervisor"]), random.next() < 0.5);
    // Two at once.
    if (random.next() < 0.3)
      await target.evict((shard + 1) % 4, random.pick(["term", "kill-all"]), random.next() < 0.5);
  }
  target.finish();
  await running;
}
