import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createTransfer, openRun, pullCheckpoint } from "../../src/checkpoint/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { formats } from "../evictions/fixtures/formats.ts";
import { freshState, hashState, trainStep } from "../evictions/fixtures/state.ts";
import { checkEvictions } from "../evictions/support/check-loop.ts";
import { Random, testSeed } from "../evictions/support/random.ts";
import { Scene } from "../evictions/support/scene.ts";
import { commitLags, readStoreLog } from "../evictions/support/store-log.ts";
import { readTrainerLog, referenceStates, trainerCommand } from "../evictions/support/trainer.ts";
import { startFakeGcsServer } from "../servers/gcs.ts";
import { hasGcsfuse } from "../servers/gcsfuse.ts";
import { FuseLoop, type FuseLoopOptions } from "./support.ts";

const share = process.env["OUTLAST_SOAK"] ? 10 : 1;
const keepAll = ["--keep", "1000"];
const cases: readonly FuseLoopOptions[] = [
  {
    run: "marker",
    evictions: 10 * share,
    longestMs: 1000,
    flags: keepAll,
    trainer: { format: "marker", steps: 3000 * share, every: 25, paceMs: 10, saveMs: 25, seed: 1 },
  },
  {
    run: "done",
    evictions: 10 * share,
    longestMs: 1000,
    flags: [...keepAll, "--complete-when", "step_*.done"],
    trainer: { format: "done", steps: 3000 * share, every: 25, paceMs: 10, saveMs: 40, seed: 2 },
  },
];

describe.skipIf(!hasGcsfuse())("a run whose --dir is a mounted bucket, killed at random moments", () => {
  const scene = new Scene();
  const seed = testSeed("mounted bucket");
  const server = startFakeGcsServer();
  const loops = cases.map((options) => {
    const open = server.then((at) => FuseLoop.open(scene, at, new Random(seed + options.trainer.seed), options));
    const over = open.then((loop) => loop.run());
    over.catch(() => {});
    return { ...options, open, over };
  });
  afterAll(async () => {
    await scene.stop();
    for (const { open } of loops) await (await open).mount.unmount();
    await (await server).stop();
    await scene.end();
  });

  test.for(loops)("$run", { timeout: 600_000 }, async (one) => {
    const loop = await one.open;
    const final = await one.over;
    expect((await final.ended).code, final.output).toBe(0);
    expect(existsSync(loop.result) && readFileSync(loop.result, "utf8")).toBe(undisturbed(scene, one));

    const events = readTrainerLog(loop.log);
    const lags = commitLags(readStoreLog(scene.store, one.run));
    const lagMs = Math.max(4000, 1.25 * Math.max(0, ...lags) + 1000);
    const promises = { lagMs, isProven: true, savesOnTerm: false };
    const { faults, redone } = checkEvictions(
      loop.evictions,
      events,
      promises,
      referenceStates(one.trainer.seed, events),
    );
    expect(faults).toEqual([]);
    const commits = await checkCommits(scene, one);
    const how = Object.entries(Object.groupBy(loop.evictions, (eviction) => eviction.how));
    process.stderr.write(
      `${one.run}: ${how.map(([name, all]) => `${all?.length} ${name}`).join(", ")}; ${commits} commits, all whole; redone steps most ${Math.max(0, ...redone)}\n`,
    );
    // Opening a file while it is written makes gcsfuse finish it and write it anew: it says so.
    expect(loop.mount.finishedEarly()).toEqual([]);
  });
});

/** What the same training gives by itself, on a plain disk. */
function undisturbed(scene: Scene, { run, trainer }: FuseLoopOptions): string {
  const [log, result] = [join(scene.root, `${run}-undisturbed.log`), join(scene.root, `${run}-undisturbed.result`)];
  const dir = scene.dir(`${run}-undisturbed`);
  const [file = "", ...args] = trainerCommand({ ...trainer, dir, log, result, paceMs: 0, saveMs: 0 });
  expect(spawnSync(file, args).status).toBe(0);
  return readFileSync(result, "utf8");
}

/** Every checkpoint that was ever committed holds exactly the state of its step. */
async function checkCommits(scene: Scene, { run, trainer }: FuseLoopOptions): Promise<number> {
  const steps =
    readStoreLog(scene.store, run)
      .at(-1)
      ?.state.commits.map(({ step }) => step) ?? [];
  const wanted = new Map<number, string>();
  const state = freshState(trainer.seed);
  for (const most = Math.max(0, ...steps); ; trainStep(state)) {
    if (steps.includes(state.step)) wanted.set(state.step, hashState(state));
    if (state.step >= most) break;
  }
  const store = openRun(await openStore(scene.store, { access: "read" }), run);
  const transfer = createTransfer({ inline: true });
  for (const step of new Set(steps)) {
    const to = mkdtempSync(join(scene.root, "pulled-"));
    await pullCheckpoint(store, { step, to, transfer });
    const held = formats[trainer.format]?.load(to);
    expect(held && hashState(held), `the state in the commit of step ${step}`).toBe(wanted.get(step));
  }
  await transfer.close();
  expect(steps.length).toBeGreaterThan(1);
  return steps.length;
}
