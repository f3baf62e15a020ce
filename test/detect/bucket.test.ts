import { cpSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createDetector, type OpenFiles, type WriterState } from "../../src/checkpoint/detect/index.ts";
import { FakeClock } from "../../src/testing/index.ts";
import { contentFor } from "./contents.ts";
import { nextTick, temporaryDirectory, writeTree } from "./support.ts";

const opened = vi.hoisted((): string[] => []);
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const open: typeof real.open = (path, ...rest) => {
    opened.push(String(path));
    return real.open(path, ...rest);
  };
  return { ...real, open };
});

const running: WriterState = { state: "running", pid: process.pid };

/** A detector on a directory that is said to be a mounted bucket, where the files in `writing` are open. */
function setUp(options: { readonly isBlind?: boolean; readonly completeWhen?: string } = {}) {
  const root = temporaryDirectory();
  const clock = new FakeClock(Date.now());
  const writing = new Set<string>();
  const openFiles = (): OpenFiles =>
    options.isBlind ? { known: false, why: "another user" } : { known: true, has: ({ path }) => writing.has(path) };
  const detector = createDetector({ root, clock, isBucket: true, openFiles, completeWhen: options.completeWhen });
  const look = async (times: number, writer: WriterState = running) => {
    let paths: readonly string[] = [];
    for (let count = 0; count < times; count += 1) {
      await clock.advance(1_000);
      paths = (await detector.poll(writer)).map(({ path }) => path);
    }
    return paths;
  };
  return { root, detector, writing, look, clock };
}

const index = (shards: readonly string[]) =>
  JSON.stringify({ weight_map: Object.fromEntries(shards.map((name, at) => [`w${at}`, name])) });
const weights = {
  "checkpoint-20/model-1.safetensors": contentFor("m.safetensors", 900),
  "checkpoint-20/model.safetensors.index.json": index(["model-1.safetensors"]),
  "checkpoint-20/optimizer.pt": contentFor("o.pt", 4000),
};
const marker = { "checkpoint-20/trainer_state.json": '{"global_step": 20}' };

describe("on a mounted bucket", () => {
  beforeEach(() => void opened.splice(0));

  test("no file is opened before the marker is there and closed", async () => {
    const { root, detector, writing, look } = setUp();
    writeTree(root, weights);
    expect(await look(20)).toEqual([]);
    await nextTick();
    writeTree(root, marker);
    writing.add("checkpoint-20/trainer_state.json");
    expect(await look(20)).toEqual([]);
    expect(detector.waitingFor).toContain("open for writing");
    expect(opened).toEqual([]);
    writing.clear();
    expect(await look(2)).toEqual(["checkpoint-20"]);
    expect(opened.length).toBeGreaterThan(0);
  });

  test("what the framework's own files say is asked once they may be read", async () => {
    const { root, detector, look } = setUp();
    writeTree(root, { ...weights, "checkpoint-20/model.safetensors.index.json": index(["model-9.safetensors"]) });
    await nextTick();
    writeTree(root, marker);
    expect(await look(5)).toEqual([]);
    expect(detector.waitingFor).toContain("model-9.safetensors");
  });

  test("where open files cannot be seen, a marked one must be quiet for 10 s", async () => {
    const { root, look } = setUp({ isBlind: true });
    writeTree(root, weights);
    await nextTick();
    writeTree(root, marker);
    expect(await look(10)).toEqual([]);
    expect(opened).toEqual([]);
    expect(await look(1)).toEqual(["checkpoint-20"]);
  });

  test("one without a marker is left alone while the program runs, and says what to do", async () => {
    const { root, detector, look } = setUp();
    writeTree(root, { "step_5.pt": contentFor("m.pt", 4000) });
    expect(await look(700)).toEqual([]);
    expect(opened).toEqual([]);
    expect(detector.waitingFor).toMatch(/--complete-when, or call outlast.saved/);
    expect(await look(1, { state: "exited" })).toEqual(["step_5.pt"]);
  });

  test("the program's word, or a pattern, stands for a marker", async () => {
    const said = setUp();
    writeTree(said.root, { "step_5.pt": contentFor("m.pt", 4000) });
    expect(await said.look(5)).toEqual([]);
    said.detector.vouch("step_5.pt", Date.now() + 1000);
    expect(await said.look(1)).toEqual(["step_5.pt"]);

    const marked = setUp({ completeWhen: "*.done" });
    writeTree(marked.root, { "step_5.pt": contentFor("m.pt", 4000) });
    expect(await marked.look(5)).toEqual([]);
    await nextTick();
    writeTree(marked.root, { "step_5.done": "" });
    expect(await marked.look(2)).toEqual(["step_5.pt"]);
  });

  test("Orbax needs its commit_success.txt: its metadata is written twice, and is not read to find out", async () => {
    const { root, look } = setUp();
    const metadata = '{"commit_timestamp_nsecs": 1}';
    writeTree(root, { "5/_CHECKPOINT_METADATA": metadata, "5/state/manifest.ocdbt": "x" });
    expect(await look(20)).toEqual([]);
    expect(opened).toEqual([]);
    await nextTick();
    writeTree(root, { "5/commit_success.txt": "ok" });
    expect(await look(2)).toEqual(["5"]);
  });

  test("a pointer that is being written is not opened either", async () => {
    const { root, detector, writing, look } = setUp();
    writeTree(root, { "step-5/__0_0.distcp": "data", latest: "step-4\n" });
    await nextTick();
    writeTree(root, { "step-5/.metadata": "__0_0.distcp" });
    writing.add("latest");
    expect(await look(2)).toEqual(["step-5"]);
    expect(opened.filter((path) => path.endsWith("/latest"))).toEqual([]);
    const [found] = await detector.poll(running);
    expect(found?.pointers.map(({ content }) => (content.type === "file" ? String(content.bytes) : ""))).toEqual([
      "step-5",
    ]);
  });

  test("a file's number may change without its content", async () => {
    const { root, detector, look } = setUp();
    writeTree(root, { ...weights, ...marker });
    const path = join(root, "checkpoint-20/optimizer.pt");
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    expect(await look(2)).toEqual(["checkpoint-20"]);
    const [found] = await detector.poll(running);
    const { ino } = statSync(path);
    cpSync(path, `${root}/copy`);
    utimesSync(`${root}/copy`, 1_700_000_000, 1_700_000_000);
    renameSync(`${root}/copy`, path);
    expect(statSync(path).ino).not.toBe(ino);
    expect(found && (await detector.recheck(found))).toBe(true);
    expect((await detector.poll(running))[0]?.fingerprint).toBe(found?.fingerprint);
  });
});
