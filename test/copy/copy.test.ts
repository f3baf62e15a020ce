import { beforeEach, describe, expect, it } from "vitest";
import { finishShard } from "../../src/checkpoint/finish-shard.ts";
import { openRun, pinCheckpoint } from "../../src/checkpoint/index.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { stillClock } from "../model/checkpoint-world.ts";
import { Machine } from "../protocol/machine.ts";
import { chunksOf, corruptChunk, destroyChunk } from "../protocol/objects.ts";
import { copy, leftovers, readAll } from "./copied-run.ts";

let from: MemoryStore;
let to: MemoryStore;
let trainer: Machine;

/** Steps 10, 20, 30 with a frozen file that all share. */
beforeEach(async () => {
  from = new MemoryStore("memory:from");
  to = new MemoryStore("memory:to");
  trainer = new Machine(from);
  await trainer.start();
  for (const step of [10, 20, 30]) await trainer.commit(step, filesOf(step));
});

const filesOf = (step: number) => ({ frozen: "the same in all", weights: `weights of ${step}` });
const stepsOf = async (store: MemoryStore) => (await readAll(store))?.checkpoints.map(({ step }) => step);
const snapshot = (store: MemoryStore) => new Map(store.objects);

describe("a copy", () => {
  it("holds the same checkpoints, resumes like its source, and leaves the source as it was", async () => {
    const before = snapshot(from);
    const report = await copy(from, to);
    expect(report.copied.map(({ step }) => step)).toEqual([10, 20, 30]);
    expect(report).toMatchObject({ there: [], leftOut: [], finished: false });
    expect((await readAll(to))?.checkpoints).toEqual((await readAll(from))?.checkpoints);
    expect(snapshot(from)).toEqual(before);

    const elsewhere = new Machine(to);
    const { target } = await elsewhere.start();
    expect(target?.step).toBe(30);
    expect(elsewhere.files).toEqual(filesOf(30));
    await elsewhere.commit(40, filesOf(40));
    expect(await stepsOf(to)).toEqual([10, 20, 30, 40]);
  });

  it("stores what checkpoints share once", async () => {
    const { sentBytes } = await copy(from, to);
    expect(chunksOf(to, "the same in all")).toHaveLength(1);
    const texts = ["the same in all", "weights of 10", "weights of 20", "weights of 30"];
    expect(sentBytes).toBe(texts.join("").length);
  });

  it("made again writes nothing", async () => {
    await copy(from, to);
    const before = snapshot(to);
    const report = await copy(from, to);
    expect(report).toMatchObject({ copied: [], sentBytes: 0 });
    expect(report.there.map(({ step }) => step)).toEqual([10, 20, 30]);
    expect(snapshot(to)).toEqual(before);
  });

  it("made again later takes what is new", async () => {
    await copy(from, to);
    await trainer.commit(40, filesOf(40));
    const report = await copy(from, to);
    expect(report.copied.map(({ step }) => step)).toEqual([40]);
    expect(await stepsOf(to)).toEqual([10, 20, 30, 40]);
  });

  it("follows the source onto another branch", async () => {
    await copy(from, to);
    const again = new Machine(from);
    await again.start();
    await again.commit(15, filesOf(15));
    await copy(from, to);
    expect(await stepsOf(from)).toEqual([10, 15]);
    expect(await stepsOf(to)).toEqual([10, 15]);
    const elsewhere = new Machine(to);
    await elsewhere.start();
    expect(elsewhere.files).toEqual(filesOf(15));
  });

  it("still knows its own when the source has dropped all that it holds", async () => {
    await copy(from, to);
    for (const step of [40, 50, 60]) await trainer.commit(step, filesOf(step));
    await trainer.prune(2);
    expect(await stepsOf(from)).toEqual([50, 60]);
    await copy(from, to);
    expect(await stepsOf(to)).toEqual([10, 20, 30, 50, 60]);
  });

  it("leaves abandoned and damaged checkpoints out", async () => {
    corruptChunk(from, "weights of 30");
    const again = new Machine(from);
    await again.start();
    await again.commit(15, filesOf(15));
    const report = await copy(from, to);
    expect(report.copied.map(({ step }) => step)).toEqual([10, 15]);
    expect(report.leftOut).toEqual([]);
  });

  it("of one step takes that one alone, and never puts an older one on top of newer ones", async () => {
    expect((await copy(from, to, { step: 20 })).copied.map(({ step }) => step)).toEqual([20]);
    expect(await stepsOf(to)).toEqual([20]);
    await expect(copy(from, to, { step: 10 })).rejects.toMatchObject({ code: "OUTLAST_RUN_TAKEN" });
    await expect(copy(from, to, { step: 25 })).rejects.toMatchObject({ code: "OUTLAST_CHECKPOINT_UNKNOWN" });
    const report = await copy(from, to);
    expect(report.copied.map(({ step }) => step)).toEqual([30]);
    expect(report.leftOut).toEqual([{ step: 10, reason: "older than what the copy holds" }]);
    expect(await stepsOf(to)).toEqual([20, 30]);
  });

  it("keeps pins, and that the work is finished", async () => {
    await pinCheckpoint(openRun(from, "r"), 20, true);
    await finishShard(trainer.run, trainer.log, trainer.tenure, { clock: stillClock });
    const report = await copy(from, to);
    expect(report.finished).toBe(true);
    const { state } = (await readAll(to)) ?? {};
    expect(state?.commits.map(({ pinned }) => pinned)).toEqual([false, true, false]);
    expect(state?.done).toEqual([0]);
    // The source is run anew; the copy follows although it is finished.
    const again = new Machine(from);
    const { takeOver } = await import("../../src/checkpoint/take-over.ts");
    const record = await takeOver(again.run, again.log, { shard: 0, of: 1, hash: "sha256", again: true });
    await again.settle(record?.n ?? 0);
    await again.commit(40, filesOf(40));
    expect(await copy(from, to)).toMatchObject({ finished: false, copied: [{ step: 40 }] });
    expect((await readAll(to))?.state.done).toEqual([]);
  });

  it("can be copied on", async () => {
    await copy(from, to);
    const third = new MemoryStore("memory:third");
    await copy(to, third);
    expect((await readAll(third))?.checkpoints).toEqual((await readAll(from))?.checkpoints);
  });

  it("tried dry writes nothing", async () => {
    const report = await copy(from, to, { dryRun: true });
    expect(report.copied.map(({ step }) => step)).toEqual([10, 20, 30]);
    expect(to.objects.size).toBe(0);
  });

  it("tells how far it is", async () => {
    const seen: number[] = [];
    let total = 0;
    await copy(from, to, {
      onProgress: ({ bytes, totalBytes }) => {
        seen.push(bytes);
        total = totalBytes;
      },
    });
    expect(seen.at(-1)).toBe(total);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });
});

describe("a target is refused", () => {
  const refused = (options = {}) =>
    expect(copy(from, to, options)).rejects.toMatchObject({
      code: "OUTLAST_RUN_TAKEN",
      hint: expect.stringContaining("--to-run"),
    });

  it("when it holds a run of its own", async () => {
    const other = new Machine(to);
    await other.start();
    await other.commit(10, filesOf(10));
    const before = snapshot(to);
    await refused();
    await refused({ dryRun: true });
    expect(snapshot(to)).toEqual(before);
  });

  it("when the program was started on it, even if it has saved nothing yet", async () => {
    const other = new Machine(to);
    await other.start();
    await refused();
    expect((await other.state()).epochs).toHaveLength(1);
  });

  it("when the copy was continued", async () => {
    await copy(from, to);
    const other = new Machine(to);
    await other.start();
    await trainer.commit(40, filesOf(40));
    await refused();
    await other.commit(35, filesOf(35));
    await refused();
  });

  it("when it is a copy of another run", async () => {
    await copy(from, to);
    const stranger = new MemoryStore("memory:stranger");
    const other = new Machine(stranger);
    await other.start();
    for (const step of [10, 20, 30]) await other.commit(step, filesOf(step));
    await expect(copy(stranger, to)).rejects.toMatchObject({ code: "OUTLAST_RUN_TAKEN" });
  });

  it("when it is the source", async () => {
    await expect(copy(from, from)).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
  });

  it("when it has data but no log", async () => {
    to.objects.set("r/chunks/aa/x.1-1", new Uint8Array(1));
    await expect(copy(from, to)).rejects.toMatchObject({ code: "OUTLAST_LOG_LOST" });
  });
});

describe("a source that is not whole", () => {
  it.each([
    ["wrong", corruptChunk],
    ["missing", destroyChunk],
  ])("with a %s chunk gives the other checkpoints, and says which it could not give", async (_, harm) => {
    harm(from, "weights of 20");
    await finishShard(trainer.run, trainer.log, trainer.tenure, { clock: stillClock });
    const report = await copy(from, to);
    expect(report.copied.map(({ step }) => step)).toEqual([10, 30]);
    expect(report.leftOut).toEqual([{ step: 20, reason: "damaged", why: expect.stringContaining("chunks/") }]);
    expect(report.finished).toBe(false);
    expect(await stepsOf(to)).toEqual([10, 30]);
    expect(await leftovers(to)).toEqual([]);
  });

  it("gives bytes that were only changed on the way", async () => {
    let reads = 0;
    const flipping = Object.assign(Object.create(from) as MemoryStore, {
      get: async (key: string, options?: Parameters<MemoryStore["get"]>[1]) => {
        const body = await from.get(key, options);
        if (key.includes("/chunks/") && (reads += 1) === 1) body[0] = (body[0] ?? 0) ^ 1;
        return body;
      },
      list: from.list.bind(from),
    });
    const report = await copy(flipping, to);
    expect(report.copied).toHaveLength(3);
    expect((await readAll(to))?.checkpoints).toEqual((await readAll(from))?.checkpoints);
  });

  it("that drops a checkpoint while it is being copied loses nothing else", async () => {
    await trainer.commit(40, filesOf(40));
    let pruning: Promise<unknown> | undefined;
    const pruned = Object.assign(Object.create(from) as MemoryStore, {
      get: async (key: string, options?: Parameters<MemoryStore["get"]>[1]) => {
        if (key.includes("/chunks/")) await (pruning ??= trainer.prune(2));
        return from.get(key, options);
      },
      list: from.list.bind(from),
    });
    const report = await copy(pruned, to);
    expect(report.copied.map(({ step }) => step)).toEqual([30, 40]);
    expect(report.leftOut).toEqual([
      { step: 10, reason: "dropped meanwhile" },
      { step: 20, reason: "dropped meanwhile" },
    ]);
    expect(await stepsOf(to)).toEqual([30, 40]);
    expect(await leftovers(to)).toEqual([]);
  });
});
