import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  listCheckpoints,
  openRun,
  pinCheckpoint,
  pruneCheckpoints,
  pullCheckpoint,
  createTransfer,
} from "../../src/checkpoint/index.ts";
import { MemoryStore } from "../../src/storage/index.ts";
import { begin, load, remove, save, sessionOn, tempDir, trainOn } from "./support.ts";

let store: MemoryStore;
let dir: string;
let other: string;

beforeEach(async () => {
  store = new MemoryStore();
  dir = await tempDir();
  other = await tempDir();
});

afterEach(() => remove(dir, other));

const steps = async () => (await listCheckpoints(openRun(store, "r"))).checkpoints.map((checkpoint) => checkpoint.step);
const objectsOf = (part: string) => [...store.objects.keys()].filter((key) => key.startsWith(`r/${part}`));

/** Destroys a chunk that only this step's commit names, and answers with its key. */
async function destroy(step: number): Promise<void> {
  const owner = objectsOf(`steps/${step}/`)[0]?.match(/-(\d+-\d+)\.json$/)?.[1];
  for (const key of objectsOf("chunks/").filter((candidate) => candidate.endsWith(`.${owner}`)))
    store.objects.delete(key);
}

describe("resuming", () => {
  it("starts from nothing in an empty directory with an empty store", async () => {
    const session = sessionOn(store, dir);
    expect(await begin(session)).toMatchObject({ epoch: 1, attempt: 1, resume: undefined });
    await session.close();
  });

  it("brings the newest checkpoint to a new machine", async () => {
    await trainOn(store, dir, [10, 20]);
    const session = sessionOn(store, other);
    expect(await begin(session)).toMatchObject({
      attempt: 2,
      resume: { step: 20, path: join(other, "checkpoint-20") },
    });
    expect(await load(other, 20)).toBe("weights of 20");
    expect(await load(other, 10)).toBeUndefined();
    await session.close();
  });

  it("falls back to the older checkpoint when the newest is damaged, and writes it down", async () => {
    await trainOn(store, dir, [10, 20]);
    await destroy(20);
    const session = sessionOn(store, other);
    expect((await begin(session)).resume?.step).toBe(10);
    expect(await load(other, 10)).toBe("weights of 10");
    expect(session.log[0]).toBe("damaged 20");
    await save(other, 15);
    await session.finish({ writer: { state: "exited" } });
    await session.close();
    const { checkpoints } = await listCheckpoints(openRun(store, "r"));
    expect(checkpoints.map(({ step, state }) => `${step} ${state}`)).toEqual(["15 good", "10 good"]);
  });

  it("refuses to start over when no checkpoint verifies", async () => {
    await trainOn(store, dir, [10, 20]);
    for (const key of objectsOf("chunks/")) store.objects.delete(key);
    const session = sessionOn(store, other);
    await expect(session.begin()).rejects.toMatchObject({ code: "OUTLAST_NO_GOOD_CHECKPOINT", exitCode: 76 });
    await session.close();
    // And again: the damage is on record, and nothing was dropped because of it.
    await expect(sessionOn(store, other).begin()).rejects.toMatchObject({ exitCode: 76 });
    expect(await readdir(other)).toEqual([".outlast"]);
  });

  it("refuses to start over when the log is gone", async () => {
    await trainOn(store, dir, [10]);
    for (const key of [...objectsOf("log/"), "r/latest.json"]) store.objects.delete(key);
    await expect(sessionOn(store, other).begin()).rejects.toMatchObject({ code: "OUTLAST_LOG_LOST", exitCode: 76 });
  });

  it("does nothing when the run is finished, unless told to run again", async () => {
    const session = sessionOn(store, dir);
    await begin(session);
    expect(await session.complete()).toBe("all-done");
    await session.close();
    expect(await sessionOn(store, dir).begin()).toEqual({ kind: "already-finished" });
    const again = sessionOn(store, dir, { again: true });
    expect(await begin(again)).toMatchObject({ attempt: 2 });
    await again.close();
  });

  it("restores without taking over when it may only restore", async () => {
    await trainOn(store, dir, [10]);
    const records = objectsOf("log/").length;
    const session = sessionOn(store, other, { restoreOnly: true });
    expect((await begin(session)).resume?.step).toBe(10);
    expect(await load(other, 10)).toBe("weights of 10");
    expect(objectsOf("log/").length).toBe(records);
  });
});

describe("what is already in the directory", () => {
  it("is adopted and shipped while nothing is stored", async () => {
    await save(dir, 7);
    const session = sessionOn(store, dir);
    expect((await begin(session)).resume).toEqual({ step: 7, path: join(dir, "checkpoint-7") });
    await session.finish({ writer: { state: "exited" } });
    await session.close();
    expect(await steps()).toEqual([7]);
  });

  it("is kept and shipped when it was saved after the newest commit on this machine", async () => {
    await trainOn(store, dir, [10]);
    await save(dir, 20);
    const session = sessionOn(store, dir);
    expect((await begin(session)).resume?.step).toBe(20);
    await session.finish({ writer: { state: "died" } });
    await session.close();
    expect(await steps()).toEqual([20, 10]);
  });

  it("is moved aside when another machine has gone on meanwhile", async () => {
    await trainOn(store, dir, [10]);
    await save(dir, 20, "of a past nobody shares");
    await trainOn(store, other, [15]);
    const session = sessionOn(store, dir);
    expect((await begin(session)).resume?.step).toBe(15);
    expect(await load(dir, 20)).toBeUndefined();
    expect(await load(dir, 15)).toBe("weights of 15");
    const aside = await readdir(join(dir, ".outlast", "aside"));
    expect(await readdir(join(dir, ".outlast", "aside", aside[0] ?? ""))).toEqual(["checkpoint-20"]);
    await session.close();
  });

  it("is moved aside when it is torn and newer: frameworks resume from the highest number they see", async () => {
    await trainOn(store, dir, [10]);
    await mkdir(join(dir, "checkpoint-20"));
    await writeFile(join(dir, "checkpoint-20", "model.bin"), "half");
    const session = sessionOn(store, dir);
    expect((await begin(session)).resume?.step).toBe(10);
    expect(await load(dir, 20)).toBeUndefined();
    await session.close();
  });

  it("is not fetched again when it is already the newest commit, byte for byte", async () => {
    await trainOn(store, dir, [10]);
    const session = sessionOn(store, dir);
    let fetched = -1;
    session.events.on("session:restored", ({ fetchedBytes }) => (fetched = fetchedBytes));
    expect((await begin(session)).resume?.step).toBe(10);
    expect(fetched).toBe(0);
    await session.close();
    expect(await readdir(join(dir, ".outlast"))).toEqual(["note.json"]);
  });

  it("is replaced when a byte of it differs from the commit", async () => {
    await trainOn(store, dir, [10]);
    const file = join(dir, "checkpoint-10", "model.bin");
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    await writeFile(file, bytes);
    const session = sessionOn(store, dir);
    await begin(session);
    expect(await load(dir, 10)).toBe("weights of 10");
    await session.close();
  });

  it("without step numbers does not come back as something newer", async () => {
    // A directory that is one checkpoint, on two machines.
    const put = async (folder: string, text: string) => {
      await writeFile(join(folder, "state.tmp"), text.repeat(50));
      await rename(join(folder, "state.tmp"), join(folder, "state.dat"));
    };
    const run = async (folder: string, text: string) => {
      const session = sessionOn(store, folder);
      const { resume } = await begin(session);
      await put(folder, text);
      await session.finish({ writer: { state: "exited" } });
      await session.close();
      return resume?.step;
    };
    expect(await run(dir, "first")).toBeUndefined();
    expect(await run(other, "second")).toBe(1);
    // The first machine comes back with its old directory.
    const session = sessionOn(store, dir);
    expect((await begin(session)).resume?.step).toBe(2);
    expect((await readFile(join(dir, "state.dat"), "utf8")).startsWith("second")).toBe(true);
    await session.finish({ writer: { state: "exited" } });
    await session.close();
    expect(await steps()).toEqual([2, 1]);
  });
});

describe("being overtaken", () => {
  it("ends the earlier start, which can then commit nothing", async () => {
    const first = sessionOn(store, dir);
    await begin(first);
    const ended = new Promise<string>((resolve) => first.events.on("session:ended", ({ reason }) => resolve(reason)));
    first.watch(process.pid);
    const second = sessionOn(store, other);
    await begin(second);
    expect(await ended).toBe("superseded");
    await save(dir, 10);
    await first.finish({ writer: { state: "exited" } });
    expect(await steps()).toEqual([]);
    expect(await first.complete()).toBe("superseded");
    await first.close();
    await second.close();
  });

  it("is found out at the commit itself when the earlier start was asleep", async () => {
    const sleeper = sessionOn(store, dir);
    await begin(sleeper);
    await trainOn(store, other, [10]);
    await save(dir, 99);
    await sleeper.finish({ writer: { state: "exited" } });
    await sleeper.close();
    expect(sleeper.log.at(-1)).toMatch(/^ended /);
    expect(await steps()).toEqual([10]);
  });
});

describe("looking after a run", () => {
  it("keeps as many as asked, never fewer than two, and what is pinned", async () => {
    await trainOn(store, dir, [10, 20, 30, 40, 50], { keep: 9 });
    await pinCheckpoint(openRun(store, "r"), 10, true);
    const report = await pruneCheckpoints(openRun(store, "r"), { keep: 1 });
    expect(report.kept.map(({ step }) => step)).toEqual([50, 40, 10]);
    expect(report.dropped.map(({ step }) => step)).toEqual([30, 20]);
    expect(await steps()).toEqual([50, 40, 10]);
    expect(report.deletedObjects).toBeGreaterThan(0);
    for (const step of [10, 40, 50]) {
      const to = join(other, String(step));
      await pullCheckpoint(openRun(store, "r"), { step, to, transfer: createTransfer({ inline: true }) });
      expect(await load(to, step)).toBe(`weights of ${step}`);
    }
  });

  it("sends bytes that did not change only once", async () => {
    await trainOn(store, dir, [10, 20, 30]);
    const frozen = objectsOf("chunks/");
    // Three pack chunks at most: small files are packed together, so each step has its own pack here.
    expect(frozen.length).toBe(3);
    const big = Buffer.alloc(3 << 20, 7);
    const session = sessionOn(store, dir);
    await begin(session);
    for (const step of [40, 50]) {
      await save(dir, step);
      await writeFile(join(dir, `checkpoint-${step}`, "big.bin"), big);
      await writeFile(join(dir, `checkpoint-${step}`, "trainer_state.json"), JSON.stringify({ global_step: step }));
      await session.finish({ writer: { state: "exited" } });
    }
    await session.close();
    const sizes = [...store.objects].filter(([key]) => key.startsWith("r/chunks/")).map(([, body]) => body.length);
    expect(sizes.filter((size) => size === 3 << 20).length).toBe(1);
  });
});
