import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDetector } from "../../src/checkpoint/detect/index.ts";
import { undoRestoring } from "../../src/checkpoint/local/restoring.ts";
import { systemClock } from "../../src/core/index.ts";
import { until } from "../evictions/support/processes.ts";
import { Random, testSeed } from "../evictions/support/random.ts";
import { Scene } from "../evictions/support/scene.ts";
import { type GcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { FuseMount, hasGcsfuse } from "../servers/gcsfuse.ts";
import { stageIn } from "./support.ts";

const kills = process.env["OUTLAST_SOAK"] ? 100 : 6;
const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`part-${n}.bin`, `${n} `.repeat(2000 + n)]));
const marker = JSON.stringify({ global_step: 10 });

/** What a framework that goes by the marker sees: undefined, or every file. */
function load(dir: string): Record<string, string> | undefined {
  const folder = join(dir, "checkpoint-10");
  if (!existsSync(join(folder, "trainer_state.json"))) return undefined;
  const names = readdirSync(folder).filter((name) => name !== "trainer_state.json");
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

describe.skipIf(!hasGcsfuse())("a restore into a mounted bucket", { timeout: 300_000 }, () => {
  const scene = new Scene();
  const random = new Random(testSeed("restore into a mounted bucket"));
  let server: GcsServer;
  let mount: FuseMount;

  beforeAll(async () => {
    server = await startFakeGcsServer();
    await server.createBucket("restored");
    mount = await FuseMount.open({
      server,
      bucket: "restored",
      point: join(scene.root, "mnt"),
      log: join(scene.root, "gcsfuse.log"),
    });
    const origin = scene.dir("origin");
    mkdirSync(join(origin, "checkpoint-10"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(origin, "checkpoint-10", name), text);
    writeFileSync(join(origin, "checkpoint-10", "trainer_state.json"), marker);
    const start = scene.run("r", origin, ["sh", "-c", "sleep 2; exit 9"]);
    expect(await start.code(), start.output).toBe(9);
  }, 60_000);
  afterAll(async () => {
    await scene.stop();
    await mount.unmount();
    await server.stop();
    await scene.end();
  });

  it("never looks like a checkpoint before it is one, whenever it is killed", async () => {
    const dir = join(mount.point, "dir");
    mkdirSync(dir);
    const record = join(dir, ".outlast", "restoring.json");
    let partial = 0;
    for (let round = 0; round < kills; round += 1) {
      const start = scene.run("r", dir, ["sleep", "60"], [], stageIn(scene));
      await until(
        "the restore to write",
        () => existsSync(record) || start.program !== undefined || start.hasEnded,
        60_000,
      );
      if (start.hasEnded) throw new Error(`it ended by itself:\n${start.output}`);
      await sleep(random.between(0, 600));
      start.killAll();
      await start.ended;
      const seen = load(dir);
      if (seen) expect(seen).toEqual(files);
      else partial += readdirSync(dir).includes("checkpoint-10") ? 1 : 0;
      const isOver = !existsSync(record);
      // What a start does first, and then its first look.
      await undoRestoring(dir, join(dir, ".outlast"));
      const detector = createDetector({ root: dir, clock: systemClock, isBucket: true });
      const complete = await detector.poll({ state: "not-started" });
      expect(complete.map(({ path }) => path)).toEqual(seen && isOver ? ["checkpoint-10"] : []);
      rmSync(join(dir, "checkpoint-10"), { recursive: true, force: true });
    }
    process.stderr.write(`restore: ${kills} kills, ${partial} of them in the middle of writing\n`);
    expect(partial).toBeGreaterThan(0);

    const start = scene.run("r", dir, ["sh", "-c", "exit 7"], [], stageIn(scene));
    expect(await start.code(), start.output).toBe(7);
    expect(load(dir)).toEqual(files);
    expect(existsSync(record)).toBe(false);
    // Each file was written in one go, and nobody looked into it before its end.
    expect(mount.finishedEarly()).toEqual([]);
    // What was half restored was thrown away, not kept as somebody's work.
    expect(existsSync(join(dir, ".outlast", "aside"))).toBe(false);
  });

  it("moves what is in the way aside, file by file, and keeps the times of what it brings", async () => {
    const dir = join(mount.point, "other");
    for (const name of ["checkpoint-10", "checkpoint-20"]) mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, "checkpoint-10", "part-0.bin"), "another");
    writeFileSync(join(dir, "checkpoint-20", "part-0.bin"), "torn");
    const start = scene.run("r", dir, ["sh", "-c", "exit 7"], [], stageIn(scene));
    expect(await start.code(), start.output).toBe(7);
    expect(load(dir)).toEqual(files);
    expect(readdirSync(dir).toSorted()).toEqual([".outlast", "checkpoint-10"]);
    const aside = join(dir, ".outlast", "aside");
    const kept = readdirSync(aside, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".bin"));
    expect(kept.map((name) => readFileSync(join(aside, name), "utf8")).toSorted()).toEqual(["another", "torn"]);
  });
});
