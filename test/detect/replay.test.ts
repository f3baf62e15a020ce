import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CompleteCheckpoint, createDetector, type Detector } from "../../src/checkpoint/detect/index.ts";
import { FakeClock } from "../../src/testing/index.ts";
import { type Operation, Replay, readRecording } from "./replay.ts";
import { nextTick, temporaryDirectory } from "./support.ts";
import { type Truth, truths } from "./truths.ts";

const running = { state: "running", pid: process.pid } as const;
const soak = process.env["OUTLAST_SOAK"] !== undefined;

/** Which of the reported checkpoints are not really complete after `line` operations. */
function falsehoods(truth: Truth, line: number, reported: readonly CompleteCheckpoint[]): readonly string[] {
  return reported.flatMap((checkpoint) => {
    const isGood = (path: string) =>
      truth.good[path]?.some(([from, through]) => line >= from && line <= through) ?? false;
    if (isGood(checkpoint.path) && checkpoint.entries.some(({ type }) => type === "directory")) return [];
    const files = checkpoint.entries.filter(({ type }) => type === "file").map(({ path }) => path);
    return files.filter((path) => !isGood(path)).map((path) => `after ${line}: ${path} (${checkpoint.why})`);
  });
}

/** Deletions come well after the writes in every recording; the file system's clock must show it. */
async function perform(replay: Replay, previous: Operation | undefined): Promise<Operation> {
  const next = replay.operations[replay.done];
  if (next?.op === "unlink" && previous?.op !== "unlink" && previous?.op !== "rmdir") await nextTick();
  return replay.step();
}

function start(truth: Truth): { replay: Replay; clock: FakeClock; detector: Detector } {
  const root = join(temporaryDirectory(), "checkpoints");
  mkdirSync(root);
  const clock = new FakeClock(Date.now());
  return { replay: new Replay(root, readRecording(truth.recording)), clock, detector: createDetector({ root, clock }) };
}

const pathsAndSteps = (reported: readonly CompleteCheckpoint[]) => reported.map(({ path, step }) => [path, step]);

describe.each(truths)("$recording: $because", (truth) => {
  test("a writer that stops for long after every operation is never called complete too early", {
    timeout: 120_000,
  }, async () => {
    const { replay, clock, detector } = start(truth);
    using _ = replay;
    let last: Operation | undefined;
    const isLong = replay.operations.length > 200;
    while (replay.done < replay.operations.length) {
      last = await perform(replay, last);
      // One that has watched all along, and one that starts to look only now.
      const fresh = createDetector({ root: replay.root, clock });
      const end = clock.monotonic() + truth.pauseMs;
      for (const pause of isLong ? [500, 3_500, 590_000] : [500, 1_900, 1_600, 50_000, 540_000]) {
        if (clock.monotonic() + pause > end) continue;
        await clock.advance(pause);
        expect(falsehoods(truth, replay.done, await detector.poll(running))).toEqual([]);
        if (isLong && !soak && replay.done % 4 !== 0) continue;
        expect(falsehoods(truth, replay.done, await fresh.poll(running))).toEqual([]);
      }
    }
    await clock.advance(5_000);
    await detector.poll(running);
    await clock.advance(5_000);
    expect(pathsAndSteps(await detector.poll(running))).toEqual(truth.atEnd);
  });

  test.each([1, 40, 400])(
    "nor is one that writes %i times slower than recorded, seen once a second",
    { timeout: 120_000 },
    async (slowness) => {
      const { replay, clock, detector } = start(truth);
      using _ = replay;
      let last: Operation | undefined;
      let polledAt = 0;
      while (replay.done < replay.operations.length) {
        const next = replay.operations[replay.done];
        const gap = ((next?.t ?? 0) - (last?.t ?? 0)) * 1000 * slowness;
        const until = clock.monotonic() + Math.min(gap, truth.pauseMs);
        while (polledAt + 1_000 <= until) {
          await clock.advance(polledAt + 1_000 - clock.monotonic());
          polledAt = clock.monotonic();
          expect(falsehoods(truth, replay.done, await detector.poll(running))).toEqual([]);
        }
        await clock.advance(until - clock.monotonic());
        last = await perform(replay, last);
      }
      for (let second = 0; second < 5; second += 1) {
        await clock.advance(1_000);
        await detector.poll(running);
      }
      expect(pathsAndSteps(await detector.poll(running))).toEqual(truth.atEnd);
    },
  );

  test("a writer killed after any operation leaves nothing that is called complete and is not", {
    timeout: 300_000,
  }, async () => {
    const count = readRecording(truth.recording).length;
    const stride = soak || count <= 100 ? 1 : count <= 200 ? 3 : 13;
    for (let line = 1; line <= count; line += stride) {
      const { replay, clock, detector } = start(truth);
      using _ = replay;
      let last: Operation | undefined;
      while (replay.done < line) {
        last = await perform(replay, last);
        if (replay.done < line - 4) continue;
        await clock.advance(1);
        expect(falsehoods(truth, replay.done, await detector.poll(running))).toEqual([]);
      }
      replay.die();
      expect(falsehoods(truth, line, await detector.poll({ state: "died" }))).toEqual([]);
      await clock.advance(60_000);
      expect(falsehoods(truth, line, await detector.poll({ state: "died" }))).toEqual([]);
      // The next start on the same directory: what it calls marked must be true; unmarked ones it may only adopt.
      const next = createDetector({ root: replay.root, clock });
      const left = await next.poll({ state: "not-started" });
      expect(
        falsehoods(
          truth,
          line,
          left.filter(({ state }) => state === "marked"),
        ),
      ).toEqual([]);
    }
  });
});

test("a live database is never called complete, and is when its program has ended", async () => {
  const root = join(temporaryDirectory(), "checkpoints");
  mkdirSync(root);
  const clock = new FakeClock(Date.now());
  const detector = createDetector({ root, clock });
  using replay = new Replay(root, readRecording("optuna_sqlite"));
  while (replay.done < replay.operations.length - 2) {
    replay.step();
    if (replay.done % 25 !== 0) continue;
    await clock.advance(10_000);
    await detector.poll(running);
    await clock.advance(10_000);
    expect(await detector.poll(running)).toEqual([]);
  }
  while (replay.done < replay.operations.length) replay.step();
  expect((await detector.poll({ state: "exited" })).map(({ path }) => path)).toEqual([""]);
});
