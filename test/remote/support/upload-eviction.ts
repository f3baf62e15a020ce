import { renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openRun, pullCheckpoint, type Transfer } from "../../../src/checkpoint/index.ts";
import { openStore } from "../../../src/storage/index.ts";
import { until } from "../../evictions/support/processes.ts";
import type { Scene } from "../../evictions/support/scene.ts";
import type { Start } from "../../evictions/support/start.ts";
import { startThrottleProxy, type ThrottleProxy } from "../../servers/throttle-proxy.ts";
import type { RunningService } from "./buckets.ts";
import { LagMeter } from "./lag-meter.ts";
import { runOn } from "./remote-run.ts";
import { hashFolder } from "./saved-tree.ts";
import { type Eviction, UploadWatch } from "./upload-watch.ts";

/** What came of it. */
export interface Evicted {
  readonly code: number | null;
  /** From the signal to the end of the process. */
  readonly tookMs: number;
  /** How late timers came at worst meanwhile, here: the machine's fault. */
  readonly lagMs: number;
  /** How long the rest needed, by what the link had given so far; the link's own rate when nothing had passed. */
  readonly neededMs: number;
  /** The newest step that a restore over a good network gives, byte for byte as saved. */
  readonly restoredStep: number;
  /** What the supervisor said it was. */
  readonly reportedStep: number | undefined;
  readonly output: string;
}

/** Has step 1 committed, then takes the machine away during the upload of step 2. */
export async function evictDuringUpload(
  scene: Scene,
  service: RunningService,
  eviction: Eviction,
  transfer: Transfer,
): Promise<Evicted> {
  const { run, bytesPerSecond, bytes, graceMs } = eviction;
  const dir = scene.dir(run);
  const upload = new UploadWatch(eviction, () => notice());
  const proxy = await startThrottleProxy({
    target: service.url,
    host: service.host,
    bytesPerSecond,
    onSight: (sighting) => upload.saw(sighting),
  });
  let noticedAt = 0;
  let start: Start | undefined;
  const notice = () => {
    noticedAt = Date.now();
    start?.kill("SIGTERM");
    if (eviction.blackHole) proxy.bytesPerSecond = 0;
  };
  const lag = new LagMeter();
  try {
    // Large enough to measure the link by.
    const firstBytes = Math.max(1_200_000, 0.3 * bytesPerSecond);
    start = runOn(scene, service.storeAt(proxy.url), {
      run,
      dir,
      command: [process.execPath, join(import.meta.dirname, "../fixtures/saver.ts"), dir, `${firstBytes}`],
      flags: ["--grace", `${graceMs}ms`],
      env: service.env,
    });
    await start.says(/"checkpoint committed".*"step":1\b/, 60_000);
    upload.isArmed = true;
    writeFileSync(`${dir}.save`, `${bytes}`);
    renameSync(`${dir}.save`, `${dir}.save-2`);
    const limitMs = (2000 * bytes) / bytesPerSecond + 60_000;
    await until(
      `the upload of step 2 to come ${eviction.phase}`,
      () => noticedAt > 0 || start?.hasEnded === true,
      limitMs,
    );
    lag.begin();
    const { code } = await start.ended;
    const tookMs = Date.now() - noticedAt;
    const lagMs = lag.end();
    const { output, lines } = start;
    const reportedStep = lines.findLast((line) => line.message === "over")?.["committedStep"] as number | undefined;
    return {
      code,
      tookMs,
      lagMs,
      neededMs: upload.neededMs,
      output,
      reportedStep,
      restoredStep: await restoredStep(scene, service, run, dir, transfer),
    };
  } finally {
    lag.end();
    await stop(proxy, start);
  }
}

/** Starts on a store that takes connections and never answers, and takes the machine away as soon as one was made. */
export async function evictAtStart(
  scene: Scene,
  service: RunningService,
  graceMs: number,
): Promise<Pick<Evicted, "code" | "tookMs" | "output">> {
  let noticedAt = 0;
  let start: Start | undefined;
  const proxy = await startThrottleProxy({
    target: service.url,
    host: service.host,
    bytesPerSecond: 0,
    onSight: () => {
      if (noticedAt > 0) return;
      noticedAt = Date.now();
      start?.kill("SIGTERM");
    },
  });
  try {
    start = runOn(scene, service.storeAt(proxy.url), {
      run: "never-begun",
      dir: scene.dir(),
      command: [process.execPath, "-e", "process.exit(3)"],
      flags: ["--grace", `${graceMs}ms`],
      env: service.env,
    });
    const { code } = await start.ended;
    return { code, tookMs: Date.now() - noticedAt, output: start.output };
  } finally {
    await stop(proxy, start);
  }
}

async function stop(proxy: ThrottleProxy, start: Start | undefined): Promise<void> {
  start?.killAll();
  await start?.ended;
  await proxy.stop();
}

/** Restores over a good network and compares with what the program had saved. Then nothing of it is needed any more. */
async function restoredStep(
  scene: Scene,
  service: RunningService,
  run: string,
  dir: string,
  transfer: Transfer,
): Promise<number> {
  const store = await openStore(service.storeAt(service.url), { access: "write" });
  const to = scene.dir(`${run}-restored`);
  const { step, path } = await pullCheckpoint(openRun(store, run), { to, transfer });
  if ((await hashFolder(path)) !== (await hashFolder(join(dir, `checkpoint-${step}`))))
    throw new Error(`${run}: step ${step} is not what was saved`);
  for (const folder of [dir, to]) await rm(folder, { recursive: true });
  for await (const { key } of store.list(`${run}/`)) await store.delete(key);
  return step;
}
