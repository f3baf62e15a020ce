import { closeSync, linkSync, openSync, renameSync, rmSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDetector, type DetectorOptions, type OpenFiles, quietTimes } from "../../src/checkpoint/detect/index.ts";
import { FakeClock } from "../../src/testing/index.ts";
import { contentFor } from "./contents.ts";
import { nextTick, temporaryDirectory, writeTree } from "./support.ts";

const running = { state: "running", pid: process.pid } as const;
const blind = (): OpenFiles => ({ known: false, why: "another user" });

function setUp(options: Partial<DetectorOptions> = {}) {
  const root = temporaryDirectory();
  const clock = new FakeClock(Date.now());
  const detector = createDetector({ root, clock, ...options });
  return {
    root,
    clock,
    detector,
    /** Looks `times` times, a second apart, and tells what the last look found. */
    async look(times = 1) {
      let paths: readonly string[] = [];
      for (let count = 0; count < times; count += 1) {
        await clock.advance(1_000);
        paths = (await detector.poll(running)).map(({ path }) => path);
      }
      return paths;
    },
  };
}

const trainer = {
  "checkpoint-20/model.safetensors": contentFor("m.safetensors", 900),
  "checkpoint-20/training_args.bin": contentFor("t.bin", 900),
  "checkpoint-20/trainer_state.json": '{"global_step": 20}',
};
const archive = contentFor("m.pt", 4000);

describe("time until it is found, with a look every second", () => {
  test("a marked one: within 2 s", async () => {
    const { root, look } = setUp();
    await look();
    writeTree(root, trainer);
    expect(await look(2)).toEqual(["checkpoint-20"]);
  });

  test("an unmarked one that nobody has open: within 5 s", async () => {
    const { root, look } = setUp();
    await look();
    writeTree(root, { "ckpt.pt": archive });
    expect(await look(3)).toEqual([]);
    expect(await look(1)).toEqual(["ckpt.pt"]);
  });

  test("where open files cannot be seen, a marked one within 2 s and a small unmarked one within 5 s", async () => {
    const { root, look } = setUp({ openFiles: blind });
    await look();
    writeTree(root, { "checkpoint-20/x.json": "{}", ...trainer });
    expect(await look(2)).toEqual(["checkpoint-20"]);
    rmSync(join(root, "checkpoint-20"), { recursive: true });
    writeTree(root, { "ckpt.pt": archive });
    expect(await look(4)).toEqual([]);
    expect(await look(1)).toEqual(["ckpt.pt"]);
  });

  test("where open files cannot be seen, a large unmarked one must be quiet for longer", async () => {
    const { root, look } = setUp({ openFiles: blind });
    const size = 640 << 20;
    writeTree(root, { "a.dat": "x" });
    const file = openSync(join(root, "big.dat"), "w");
    writeSync(file, "x", size - 1);
    closeSync(file);
    expect(await look(13)).toEqual([]);
    expect(await look(2)).toEqual([""]);
  });
});

describe("writers", () => {
  test("slow: a file that grows is not complete while it is open, however long a pause is", async () => {
    const { root, look, detector } = setUp();
    const file = openSync(join(root, "ckpt.pt"), "w");
    for (let offset = 0; offset < archive.length; offset += 500) {
      writeSync(file, archive.subarray(offset, offset + 500));
      expect(await look(7)).toEqual([]);
      expect(detector.waitingFor).toBe("ckpt.pt: ckpt.pt is open for writing");
    }
    closeSync(file);
    expect(await look(4)).toEqual(["ckpt.pt"]);
  });

  test("slow and unseen: one that pauses longer than the quiet time is saved by its structure", async () => {
    const { root, look, detector } = setUp({ openFiles: blind });
    writeTree(root, { "ckpt.pt": archive.subarray(0, 3999) });
    expect(await look(60)).toEqual([]);
    expect(detector.waitingFor).toMatch(/zip end record is missing/);
    writeTree(root, { "ckpt.pt": archive });
    expect(await look(6)).toEqual(["ckpt.pt"]);
  });

  test("a file of full size but all holes is not complete while its writer holds it", async () => {
    const { root, look } = setUp();
    const whole = contentFor("m.safetensors", 5000);
    const file = openSync(join(root, "model-step1.safetensors"), "w");
    writeSync(file, whole.subarray(0, 200), 0, 200, 0);
    writeSync(file, whole.subarray(4999), 0, 1, 4999);
    expect(await look(20)).toEqual([]);
    closeSync(file);
  });

  test("in place: the same path with other bytes is news, the same bytes are not", async () => {
    const { root, clock, detector, look } = setUp();
    writeTree(root, { "ckpt.pt": archive });
    expect(await look(4)).toEqual(["ckpt.pt"]);
    const [first] = await detector.poll(running);
    await clock.advance(60_000);
    expect((await detector.poll(running))[0]?.fingerprint).toBe(first?.fingerprint);
    const file = openSync(join(root, "ckpt.pt"), "w");
    expect(await look(1)).toEqual([]);
    writeSync(file, contentFor("m.pt", 4000, 2));
    closeSync(file);
    expect(await look(4)).toEqual(["ckpt.pt"]);
    expect((await detector.poll(running))[0]?.fingerprint).not.toBe(first?.fingerprint);
  });

  test("linking its files, as shipping does, is no news", async () => {
    const { root, detector, look } = setUp();
    writeTree(root, trainer);
    await look(2);
    const [first] = await detector.poll(running);
    linkSync(join(root, "checkpoint-20/model.safetensors"), `${root}-link`);
    const [again] = await detector.poll(running);
    rmSync(`${root}-link`);
    expect(again?.fingerprint).toBe(first?.fingerprint);
    expect(first && (await detector.recheck(first))).toBe(true);
  });

  test("killed in the middle of a marked save: the marker decides", async () => {
    const { root, detector, look } = setUp();
    const { "checkpoint-20/trainer_state.json": _state, ...rest } = trainer;
    writeTree(root, rest);
    await look(1);
    expect(await detector.poll({ state: "died" })).toEqual([]);
    writeTree(root, trainer);
    expect(await detector.poll({ state: "died" })).toHaveLength(1);
  });

  test("killed: unmarked files that had been quiet before are complete, others are not", async () => {
    const { root, detector, look } = setUp();
    writeTree(root, { "model.dat": "x", "state.json": "{}" });
    expect(await look(4)).toEqual([""]);
    expect(await detector.poll({ state: "died" })).toHaveLength(1);
    writeTree(root, { "model.dat": "y" });
    await look(1);
    expect(await detector.poll({ state: "died" })).toEqual([]);
    expect(detector.waitingFor).toMatch(/nothing proves that its save was finished/);
  });

  test("killed: a single archive with its end record was written to the end, one without was not", async () => {
    const whole = setUp();
    writeTree(whole.root, { "ckpt.pt": archive });
    await whole.look(1);
    expect(await whole.detector.poll({ state: "died" })).toHaveLength(1);
    const cut = setUp();
    writeTree(cut.root, { "ckpt.pt": archive.subarray(0, 3000) });
    await cut.look(1);
    expect(await cut.detector.poll({ state: "died" })).toEqual([]);
  });

  test("ended well: what is there is complete at once", async () => {
    const { root, detector } = setUp();
    await detector.poll(running);
    writeTree(root, { "model.dat": "x", "state.json": "{}" });
    expect(await detector.poll({ state: "exited" })).toHaveLength(1);
  });

  test("ended, but a process it left behind still writes", async () => {
    const { root, detector } = setUp();
    await detector.poll(running);
    const file = openSync(join(root, "ckpt.pt"), "w");
    writeSync(file, archive);
    expect(await detector.poll({ state: "exited" })).toEqual([]);
    expect(detector.waitingFor).toMatch(/open for writing/);
    closeSync(file);
    expect(await detector.poll({ state: "exited" })).toHaveLength(1);
  });
});

describe("after the child has left because it was told to", () => {
  const inTwoFiles = { "a.npy": contentFor("a.npy", 500), "b.npy": contentFor("b.npy", 500) };
  const paths = async (found: Promise<readonly { path: string }[]>) => (await found).map(({ path }) => path);

  const told = { state: "exited", isNoticed: true } as const;

  test("what it had begun before is not trusted, what it began afterwards is", async () => {
    const { root, detector } = setUp();
    writeTree(root, inTwoFiles);
    await nextTick();
    detector.noticed(Date.now());
    expect(await detector.poll(told)).toEqual([]);
    expect(detector.waitingFor).toMatch(/may have been saving a.npy/);
    rmSync(root, { recursive: true });
    await nextTick();
    writeTree(root, inTwoFiles);
    expect(await paths(detector.poll(told))).toEqual([""]);
  });

  test("a file it wrote over afterwards is trusted if it was closed at the notice, and not if it was open", async () => {
    const { root, detector } = setUp();
    writeTree(root, { "ckpt.pt": archive });
    await detector.poll(running);
    await nextTick();
    detector.noticed(Date.now());
    await nextTick();
    writeTree(root, { "ckpt.pt": archive });
    expect(await paths(detector.poll(told))).toEqual(["ckpt.pt"]);

    const other = setUp();
    writeTree(other.root, { "ckpt.pt": archive });
    await other.detector.poll(running);
    const file = openSync(join(other.root, "ckpt.pt"), "r+");
    await nextTick();
    other.detector.noticed(Date.now());
    closeSync(file);
    await nextTick();
    writeTree(other.root, { "ckpt.pt": archive });
    expect(await other.detector.poll(told)).toEqual([]);
  });

  test("a single file that was closed before and proves itself whole is trusted, one that cannot prove it is not", async () => {
    for (const [name, expected] of [
      ["ckpt.pt", 1],
      ["weights.dat", 0],
    ] as const) {
      const { root, detector } = setUp();
      writeTree(root, { [name]: archive });
      await detector.poll(running);
      await nextTick();
      detector.noticed(Date.now());
      expect(await detector.poll(told), name).toHaveLength(expected);
    }
  });

  test("of a save over several files, one file written before and one after is a mixture", async () => {
    const { root, clock, detector } = setUp();
    writeTree(root, { "config.json": "{}", ...inTwoFiles });
    await detector.poll(running);
    await clock.advance(quietTimes.unmarked);
    expect(await detector.poll(running)).toHaveLength(1);
    await nextTick();
    writeTree(root, { "a.npy": inTwoFiles["a.npy"] });
    await nextTick();
    detector.noticed(Date.now());
    await nextTick();
    writeTree(root, { "b.npy": inTwoFiles["b.npy"] });
    expect(await detector.poll(told)).toEqual([]);
    // Written whole after the notice; what never changes is as it was when all was complete.
    await nextTick();
    writeTree(root, inTwoFiles);
    expect(await detector.poll(told)).toHaveLength(1);
  });

  test("without a look at the moment of the notice nothing is trusted", async () => {
    const { root, detector } = setUp();
    writeTree(root, inTwoFiles);
    expect(await detector.poll(told)).toEqual([]);
  });

  test("its own word is enough", async () => {
    const { root, detector } = setUp();
    writeTree(root, inTwoFiles);
    detector.noticed(Date.now() + 1000);
    detector.vouch("", Date.now() + 100);
    expect(await detector.poll(told)).toHaveLength(1);
  });

  test("what was found complete before stays so, and a marker needs no other proof", async () => {
    const { root, clock, detector } = setUp();
    writeTree(root, inTwoFiles);
    await detector.poll(running);
    await clock.advance(quietTimes.unmarked);
    expect(await detector.poll(running)).toHaveLength(1);
    detector.noticed(Date.now() + 1000);
    expect(await detector.poll(told)).toHaveLength(1);
    const other = setUp();
    writeTree(other.root, trainer);
    other.detector.noticed(Date.now() + 1000);
    expect(await other.detector.poll(told)).toHaveLength(1);
  });
});

describe("after the child has died", () => {
  test("a file with a proper end is whole if a signal killed it, but not if its own clean-up may have closed it", async () => {
    const { root, detector } = setUp();
    writeTree(root, { "ckpt.pt": archive });
    expect(await detector.poll({ state: "died", unwound: true })).toEqual([]);
    expect(await detector.poll({ state: "died", unwound: false })).toHaveLength(1);
  });

  test("a whole file that was closed at an earlier look is not what it was writing at its end", async () => {
    const { root, detector } = setUp();
    writeTree(root, { "step-1.pt": archive });
    await detector.poll(running);
    writeTree(root, { "step-2.pt": archive });
    const found = await detector.poll({ state: "died", unwound: true });
    expect(found.map(({ path }) => path)).toEqual(["step-1.pt"]);
  });
});

describe("what the program itself calls saved", () => {
  test("is found at once, and not any more when it is written again", async () => {
    const { root, detector, look } = setUp();
    const two = { "a.dat": "1", "b.dat": "1" };
    await look();
    writeTree(root, two);
    detector.vouch("", Date.now() + 100);
    expect(await look(2)).toEqual([""]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    writeTree(root, { "a.dat": "2" });
    expect(await look(3)).toEqual([]);
    expect(await detector.poll({ state: "died" })).toEqual([]);
  });

  test("is whole even if the program failed afterwards", async () => {
    const { root, detector } = setUp();
    writeTree(root, { "a.dat": "1", "b.dat": "1" });
    await detector.poll(running);
    expect(await detector.poll({ state: "died", unwound: true })).toEqual([]);
    detector.vouch("a.dat", Date.now() + 100);
    expect(await detector.poll({ state: "died", unwound: true })).toHaveLength(1);
  });
});

describe("weights alone in a checkpoint folder", () => {
  test("count once a later one is begun, however long nothing happens before", async () => {
    const { root, look } = setUp();
    const weights = contentFor("m.safetensors", 900);
    writeTree(root, { "checkpoint-20/config.json": "{}", "checkpoint-20/model.safetensors": weights });
    expect(await look(600)).toEqual([]);
    writeTree(root, { "checkpoint-40/config.json": "{}" });
    expect(await look(2)).toEqual(["checkpoint-20"]);
  });
});

describe("one shard's directory", () => {
  test("holds its part of a DCP checkpoint without .metadata", async () => {
    const files = { "step-5/__1_0.distcp": "x".repeat(500) };
    const whole = setUp();
    writeTree(whole.root, files);
    expect(await whole.look(10)).toEqual([]);
    const shard = setUp({ isShard: true });
    writeTree(shard.root, files);
    expect(await shard.look(5)).toEqual(["step-5"]);
  });
});

describe("before the child has started", () => {
  test("sound files are offered for adoption, torn ones are not", async () => {
    const { root, detector } = setUp();
    writeTree(root, { "model.npy": contentFor("m.npy", 500), "state.json": "{}" });
    expect(await detector.poll({ state: "not-started" })).toHaveLength(1);
    writeTree(root, { "state.json": '{"step": 1' });
    expect(await detector.poll({ state: "not-started" })).toEqual([]);
  });

  test("a temporary file tells of an unfinished save, until the next program has run over it", async () => {
    const { root, clock } = setUp();
    writeTree(root, { "model.npy": contentFor("m.npy", 500), "state.json": "{}", "state.json.tmp": "{" });
    await clock.advance(60_000);
    const detector = createDetector({ root, clock });
    expect(await detector.poll({ state: "not-started" })).toEqual([]);
    expect(detector.waitingFor).toMatch(/temporary files tell of an unfinished save/);
    await detector.poll(running);
    await clock.advance(quietTimes.unmarked);
    expect(await detector.poll(running)).toHaveLength(1);
  });

  test("what was only offered must prove itself again while the child runs", async () => {
    const { root, clock, detector } = setUp();
    writeTree(root, { "model.dat": "x", "state.json": "{}" });
    expect(await detector.poll({ state: "not-started" })).toHaveLength(1);
    expect(await detector.poll(running)).toEqual([]);
    await clock.advance(quietTimes.unmarked);
    expect(await detector.poll(running)).toHaveLength(1);
  });
});

describe("recheck", () => {
  test.each([
    ["a byte more", (root: string) => writeTree(root, { "checkpoint-20/training_args.bin": contentFor("t.bin", 901) })],
    ["the marker gone", (root: string) => rmSync(join(root, "checkpoint-20/trainer_state.json"))],
    ["another time", (root: string) => utimesSync(join(root, "checkpoint-20/training_args.bin"), 1, 1)],
    ["the folder gone", (root: string) => rmSync(join(root, "checkpoint-20"), { recursive: true })],
    ["the folder renamed", (root: string) => renameSync(join(root, "checkpoint-20"), join(root, "old"))],
  ])("%s is found", async (_what, change) => {
    const { root, detector, look } = setUp();
    writeTree(root, trainer);
    await look(2);
    const [checkpoint] = await detector.poll(running);
    if (!checkpoint) throw new Error("not found");
    expect(await detector.recheck(checkpoint)).toBe(true);
    change(root);
    expect(await detector.recheck(checkpoint)).toBe(false);
  });
});

test("a checkpoint whose files vanish one by one is not complete any more", async () => {
  const { root, look, detector } = setUp();
  writeTree(root, trainer);
  expect(await look(2)).toEqual(["checkpoint-20"]);
  rmSync(join(root, "checkpoint-20/training_args.bin"));
  expect(await look(30)).toEqual([]);
  expect(detector.waitingFor).toMatch(/its files are being deleted/);
});

test("a temporary file that this program made, closed or not, is about to become part of the checkpoint", async () => {
  const { root, look, detector } = setUp();
  writeTree(root, { "a.dat": "x", "b.dat.tmp": "y" });
  expect(await look(60)).toEqual([]);
  expect(detector.waitingFor).toMatch(/b\.dat\.tmp has a temporary name/);
  renameSync(join(root, "b.dat.tmp"), join(root, "b.dat"));
  expect(await look(4)).toEqual([""]);
});

test("checkpoints come oldest first, by step", async () => {
  const { root, look } = setUp();
  for (const step of [100, 20, 3]) {
    writeTree(
      root,
      Object.fromEntries(Object.entries(trainer).map(([path, content]) => [path.replace("20", String(step)), content])),
    );
  }
  expect(await look(2)).toEqual(["checkpoint-3", "checkpoint-20", "checkpoint-100"]);
});

test("a log that is always open does not stand in the way, another open file does and is named", async () => {
  const { root, look, detector } = setUp();
  writeTree(root, { "model.dat": "x", "state.json": "{}" });
  const log = openSync(join(root, "train.log"), "a");
  expect(await look(4)).toEqual([""]);
  const metrics = openSync(join(root, "metrics.csv"), "a");
  writeSync(metrics, "1,2\n");
  expect(await look(10)).toEqual([]);
  expect(detector.waitingFor).toMatch(/metrics\.csv is open for writing/);
  closeSync(log);
  closeSync(metrics);
});
