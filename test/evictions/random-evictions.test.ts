import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { CheckpointsListJson } from "../../src/cli/json/checkpoints.ts";
import { runOutlast } from "../support/run-outlast.ts";
import { checkEvictions, type Promises } from "./support/check-loop.ts";
import { EvictionLoop, type LoopOptions } from "./support/eviction-loop.ts";
import { Random, testSeed } from "./support/random.ts";
import { Scene } from "./support/scene.ts";
import { commitLags, readStoreLog, storedObjects } from "./support/store-log.ts";
import { readTrainerLog, referenceStates, trainerCommand } from "./support/trainer.ts";

/** One supervised run and what may be expected of it. */
interface Case extends LoopOptions {
  readonly promises: Promises;
}

// A marked save is found within 2 s and an unmarked one within 5 s; the rest is room for a busy machine.
const marked: Promises = { lagMs: 3000, isProven: true, savesOnTerm: false };
const unmarked: Promises = { lagMs: 6500, isProven: false, savesOnTerm: false };
const share = process.env["OUTLAST_SOAK"] ? 6 : 2;
const slow = { steps: 12_000 * share, every: 220, paceMs: 20, saveMs: 20 };
const single = { format: "file", steps: 25_000 * share, paceMs: 5, saveMs: 5 };

// Two hundred evictions in all, six hundred in a soak.
const cases: readonly Case[] = [
  {
    run: "marker",
    evictions: 27,
    longestMs: 1700,
    trainer: { format: "marker", steps: 15_000 * share, every: 100, paceMs: 4, saveMs: 8, seed: 1 },
    promises: marked,
  },
  {
    run: "launched",
    evictions: 22,
    longestMs: 2200,
    trainer: { format: "marker", steps: 12_000 * share, every: 60, paceMs: 5, saveMs: 2, seed: 2 },
    // A launcher that does not pass signals on, as some training launchers do.
    launch: (command) => ["sh", "-c", '"$0" "$@" & wait $!', ...command],
    promises: marked,
  },
  { run: "file", evictions: 13, longestMs: 5000, trainer: { ...single, every: 100, seed: 3 }, promises: unmarked },
  { run: "file-often", evictions: 12, longestMs: 5000, trainer: { ...single, every: 30, seed: 4 }, promises: unmarked },
  {
    run: "directory",
    evictions: 8,
    longestMs: 9500,
    trainer: { ...slow, format: "directory", seed: 5 },
    promises: unmarked,
  },
  {
    run: "copied-handler",
    evictions: 11,
    longestMs: 5000,
    trainer: { ...slow, format: "replaced", saveOnTerm: true, seed: 6 },
    promises: { ...unmarked, savesOnTerm: true },
  },
  {
    run: "in-place",
    evictions: 7,
    longestMs: 9500,
    trainer: { ...slow, format: "in-place", saveOnTerm: true, seed: 7 },
    promises: unmarked,
  },
];

const scene = new Scene();
const seed = testSeed("random evictions");
// All at once: most of the time a loop waits. They share one store.
const loops = cases.map((one) => {
  const loop = new EvictionLoop(scene, new Random(seed + one.trainer.seed), {
    ...one,
    evictions: one.evictions * share,
  });
  const over = loop.run();
  over.catch(() => {});
  return { ...one, loop, over };
});
afterAll(() => scene.end());

describe("a training loop that is evicted again and again ends as if it never was", () => {
  test.for(loops)("$run", { timeout: 600_000 }, async (one) => {
    const final = await one.over;
    expect((await final.ended).code, final.output).toBe(0);
    const { evictions, result, log } = one.loop;
    expect(existsSync(result) && readFileSync(result, "utf8")).toBe(undisturbed(one));

    const lags = [...commitLags(readStoreLog(scene.store, one.run))].sort((a, b) => a - b);
    const events = readTrainerLog(log);
    // The lag that was measured, with a margin: a shipment that was cut short may have been the slowest of all.
    const lagMs = Math.max(one.promises.lagMs, 1.25 * (lags.at(-1) ?? 0) + 500);
    const truth = referenceStates(one.trainer.seed, events);
    const { faults, redone } = checkEvictions(evictions, events, { ...one.promises, lagMs }, truth);
    process.stderr.write(
      `${one.run}: ${evictions.length} evictions, ${redone.length} of running programs; redone steps median ${median(redone)}, ` +
        `most ${Math.max(...redone)} (a save every ${one.trainer.every}); ${lags.length} commits, lag median ${median(lags)} ms, most ${lags.at(-1)} ms\n`,
    );
    expect(faults).toEqual([]);
    expect(median(lags)).toBeLessThan(one.promises.lagMs);
    await checkStore(one.run);
  });

  test("nothing is left running", () => {
    expect(scene.processes()).toEqual([]);
  });
});

/** What the same training gives by itself. */
function undisturbed({ run, trainer }: Case): string {
  const [log, result] = [join(scene.root, `${run}-undisturbed.log`), join(scene.root, `${run}-undisturbed.result`)];
  const dir = scene.dir(`${run}-undisturbed`);
  const [file = "", ...args] = trainerCommand({ ...trainer, dir, log, result, paceMs: 0, saveMs: 0 });
  expect(spawnSync(file, args).status).toBe(0);
  return readFileSync(result, "utf8");
}

/** What is stored is whole, bounded, and nothing of dead starts is left. */
async function checkStore(run: string): Promise<void> {
  const of = ["--store", scene.store, "--run", run, "--json"];
  const verify = await runOutlast(["checkpoints", "verify", ...of]);
  expect(verify.code, verify.stdout).toBe(0);
  const list = JSON.parse((await runOutlast(["checkpoints", "list", ...of])).stdout) as CheckpointsListJson;
  expect(list.finished).toBe(true);
  expect(list.checkpoints.length).toBeGreaterThanOrEqual(1);
  expect(list.checkpoints.length).toBeLessThanOrEqual(3);
  const one = Math.max(...list.checkpoints.map(({ bytes }) => bytes));
  const bytes = [...storedObjects(scene.store, run, "chunks").values()].reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThan(6 * one);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
