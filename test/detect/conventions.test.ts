import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDetector, type DetectorOptions } from "../../src/checkpoint/detect/index.ts";
import { FakeClock } from "../../src/testing/index.ts";
import { contentFor, zip, zipOverhead } from "./contents.ts";
import { pickledStep } from "./replay.ts";
import { temporaryDirectory, writeTree } from "./support.ts";

const valid = (name: string) => contentFor(name.slice(name.lastIndexOf("/") + 1), 600);
const files = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, valid(name)]));
const within = (folder: string, ...names: readonly string[]) => files(...names.map((name) => `${folder}/${name}`));
const trainer = (step: number, ...more: readonly string[]) =>
  within(
    `checkpoint-${step}`,
    "config.json",
    "model.safetensors",
    "training_args.bin",
    "optimizer.pt",
    "scheduler.pt",
    ...more,
  );
const distcp = (folder: string, ...more: readonly string[]) => ({
  ...within(folder, "__0_0.distcp", "__1_0.distcp", ...more),
});
const metadata = { ".metadata": Buffer.from("… __0_0.distcp … __1_0.distcp …") };
const at = (folder: string, content: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(Object.entries(content).map(([name, bytes]) => [`${folder}/${name}`, bytes]));
const orbaxItem = (step: string) =>
  within(`${step}/default`, "_METADATA", "manifest.ocdbt", "d/abc", "ocdbt.process_0/d/x");
const committed = Buffer.from('{"init_timestamp_nsecs": 1, "commit_timestamp_nsecs": 2}');
const initiated = Buffer.from('{"init_timestamp_nsecs": 1, "commit_timestamp_nsecs": null}');
const lightningFile = (step: number) => zip(600, 1, pickledStep(step, 600 - zipOverhead));

interface Case {
  readonly what: string;
  readonly tree: Readonly<Record<string, string | Uint8Array>>;
  /** `path step convention`, each. */
  readonly complete: readonly string[];
  readonly waitingFor?: RegExp;
  readonly links?: Readonly<Record<string, string>>;
  readonly options?: Partial<DetectorOptions>;
  /** Done after the files are written, before the first look. */
  readonly then?: (root: string) => void;
}

/** Makes a file older by some seconds. */
const age =
  (seconds: number, ...paths: readonly string[]) =>
  (root: string) => {
    for (const path of paths) utimesSync(join(root, path), Date.now() / 1000 - seconds, Date.now() / 1000 - seconds);
  };

const cases: Readonly<Record<string, readonly Case[]>> = {
  "hugging-face": [
    {
      what: "a whole one",
      tree: { ...trainer(20, "rng_state.pth"), ...within("checkpoint-20", "trainer_state.json") },
      complete: ["checkpoint-20 20 hugging-face"],
    },
    {
      what: "no trainer_state.json",
      tree: trainer(20, "rng_state.pth"),
      complete: [],
      waitingFor: /trainer_state\.json is not there yet/,
    },
    {
      what: "a cut trainer_state.json",
      tree: { ...trainer(20), "checkpoint-20/trainer_state.json": '{"epoch": 1, "lo' },
      complete: [],
      waitingFor: /trainer_state\.json is not whole: it is not JSON/,
    },
    {
      what: "the sentinel of a save on a signal",
      tree: { ...trainer(20, "trainer_state.json"), "checkpoint-20/checkpoint-is-incomplete.txt": "x" },
      complete: [],
      waitingFor: /checkpoint-is-incomplete\.txt is there/,
    },
    {
      what: "an empty optimizer",
      tree: { ...trainer(20), "checkpoint-20/optimizer.pt": "", ...within("checkpoint-20", "trainer_state.json") },
      complete: [],
      waitingFor: /optimizer\.pt is not whole: it is empty/,
    },
    {
      what: "a shard of the index is missing",
      tree: {
        ...within("checkpoint-20", "model-00001-of-00002.safetensors", "training_args.bin"),
        "checkpoint-20/model.safetensors.index.json": JSON.stringify({
          weight_map: { a: "model-00001-of-00002.safetensors", b: "model-00002-of-00002.safetensors" },
        }),
        ...within("checkpoint-20", "trainer_state.json"),
      },
      complete: [],
      waitingFor: /model-00002-of-00002\.safetensors of .* is missing/,
    },
    {
      what: "a rank's rng file is missing in the middle",
      tree: trainer(20, "rng_state_0.pth", "rng_state_2.pth", "trainer_state.json"),
      complete: [],
      waitingFor: /rng_state files of 2 ranks, but the highest is 2/,
    },
    {
      what: "weights newer than the state: the folder is written again",
      tree: trainer(20, "trainer_state.json"),
      then: age(100, "checkpoint-20/trainer_state.json"),
      complete: [],
      waitingFor: /is being written again/,
    },
    {
      what: "weights alone, which may be the beginning of more",
      tree: within("checkpoint-20", "config.json", "model.safetensors"),
      complete: [],
      waitingFor: /it counts once a later one is begun/,
    },
    {
      what: "tokenizer and final model beside it belong to no checkpoint",
      tree: { ...trainer(20, "trainer_state.json"), ...files("tokenizer.json", "model.safetensors", "README.md") },
      complete: ["checkpoint-20 20 hugging-face"],
    },
    {
      what: "sharded weights inside are not taken for checkpoints of their own",
      tree: { ...distcp("checkpoint-20/pytorch_model_fsdp_0"), ...at("checkpoint-20/pytorch_model_fsdp_0", metadata) },
      complete: [],
      waitingFor: /trainer_state\.json is not there yet/,
    },
    {
      what: "a rotation that died half way",
      tree: trainer(20, "rng_state.pth", "trainer_state.json"),
      then: (root) => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
        rmSync(join(root, "checkpoint-20/rng_state.pth"));
      },
      complete: [],
      waitingFor: /something was deleted from checkpoint-20/,
    },
  ],
  accelerate: [
    {
      what: "a whole one, two ranks",
      tree: within(
        "checkpoints/checkpoint_3",
        "model.safetensors",
        "optimizer.bin",
        "random_states_0.pkl",
        "random_states_1.pkl",
      ),
      complete: ["checkpoints/checkpoint_3 3 accelerate"],
    },
    {
      what: "no random states",
      tree: within("step_3", "model.safetensors", "optimizer.bin"),
      complete: [],
      waitingFor: /random_states_0\.pkl/,
    },
    {
      what: "diffusers' naming",
      tree: within(
        "checkpoint-500",
        "unet/config.json",
        "unet/model.safetensors",
        "optimizer.bin",
        "random_states_0.pkl",
      ),
      complete: ["checkpoint-500 500 accelerate"],
    },
  ],
  lightning: [
    {
      what: "a step in the name",
      tree: { "epoch=0-step=20.ckpt": lightningFile(20) },
      complete: ["epoch=0-step=20.ckpt 20 lightning"],
    },
    {
      what: "a step known only inside",
      tree: { "best.ckpt": lightningFile(300) },
      complete: ["best.ckpt 300 lightning"],
    },
    {
      what: "last.ckpt is a copy of the same step: one checkpoint",
      tree: { "epoch=0-step=20.ckpt": lightningFile(20), "last.ckpt": lightningFile(20) },
      complete: ["epoch=0-step=20.ckpt 20 lightning"],
    },
    {
      what: "last.ckpt is ahead of the best ones",
      tree: { "epoch=0-step=20.ckpt": lightningFile(20), "last.ckpt": lightningFile(40) },
      complete: ["epoch=0-step=20.ckpt 20 lightning", "last.ckpt 40 lightning"],
    },
    {
      what: "a cut file",
      tree: { "last.ckpt": lightningFile(20).subarray(0, 500) },
      complete: [],
      waitingFor: /zip end record is missing/,
    },
    {
      what: "a folder of a sharded strategy",
      tree: { ...distcp("e=0-step=5.ckpt", "meta.pt"), ...at("e=0-step=5.ckpt", metadata) },
      complete: ["e=0-step=5.ckpt 5 lightning"],
    },
    {
      what: "such a folder without meta.pt",
      tree: { ...distcp("s.ckpt"), ...at("s.ckpt", metadata) },
      complete: [],
      waitingFor: /meta\.pt is not there yet/,
    },
    {
      what: "NeMo's unfinished marker",
      tree: { "step=5.ckpt": lightningFile(5), "step=5-unfinished": "" },
      complete: [],
      waitingFor: /step=5-unfinished is there/,
    },
  ],
  dcp: [
    { what: "a whole one", tree: { ...distcp("step-20"), ...at("step-20", metadata) }, complete: ["step-20 20 dcp"] },
    { what: "no .metadata", tree: distcp("step-20"), complete: [], waitingFor: /\.metadata is not there yet/ },
    {
      what: ".metadata.tmp is there",
      tree: { ...distcp("step-20"), ...at("step-20", metadata), "step-20/.metadata.tmp": "x" },
      complete: [],
      waitingFor: /\.metadata\.tmp is there/,
    },
    {
      what: "a shard that .metadata names is missing",
      tree: { ...within("step-20", "__0_0.distcp"), ...at("step-20", metadata) },
      complete: [],
      waitingFor: /__1_0\.distcp, which \.metadata names, is missing/,
    },
    {
      what: "shards newer than .metadata",
      tree: { ...distcp("step-20"), ...at("step-20", metadata) },
      then: age(50, "step-20/.metadata"),
      complete: [],
      waitingFor: /newer than \.metadata/,
    },
    {
      what: "an empty .metadata",
      tree: { ...distcp("step-20"), "step-20/.metadata": "" },
      complete: [],
      waitingFor: /it is empty/,
    },
    {
      what: "metadata of each rank",
      tree: { ...distcp("step-20"), "step-20/__0.metadata": "x", "step-20/__1.metadata": "x" },
      complete: ["step-20 20 dcp"],
    },
    {
      what: "metadata of one rank of two",
      tree: { ...distcp("step-20"), "step-20/__0.metadata": "x" },
      complete: [],
      waitingFor: /__1\.metadata is not there yet/,
    },
    {
      what: "Megatron without its metadata.json",
      tree: { ...distcp("iter_0000020", "common.pt"), ...at("iter_0000020", metadata) },
      complete: [],
      waitingFor: /metadata\.json is not there yet/,
    },
  ],
  orbax: [
    {
      what: "0.12.3 and later",
      tree: {
        ...orbaxItem("20"),
        "20/default/commit_success.txt": "",
        "20/_CHECKPOINT_METADATA": committed,
        "20/commit_success.txt": "",
      },
      complete: ["20 20 orbax"],
    },
    {
      what: "before 0.12.3",
      tree: { ...orbaxItem("20"), "20/_CHECKPOINT_METADATA": committed },
      complete: ["20 20 orbax"],
    },
    {
      what: "no commit time",
      tree: { ...orbaxItem("20"), "20/_CHECKPOINT_METADATA": initiated },
      complete: [],
      waitingFor: /holds no commit time/,
    },
    {
      what: "a temporary name",
      tree: { ...orbaxItem("20.orbax-checkpoint-tmp"), "20.orbax-checkpoint-tmp/commit_success.txt": "" },
      complete: [],
      waitingFor: /its name is still temporary/,
    },
    {
      what: "a temporary item",
      tree: { ...within("20/default.orbax-checkpoint-tmp-7", "_METADATA"), "20/_CHECKPOINT_METADATA": committed },
      complete: [],
      waitingFor: /still temporary/,
    },
    {
      what: "what a rotation has left",
      tree: { ...orbaxItem("20"), "20/default/commit_success.txt": "" },
      complete: [],
      waitingFor: /neither commit_success/,
    },
    {
      what: "a prefix before the step",
      tree: { ...orbaxItem("ckpt_7"), "ckpt_7/_CHECKPOINT_METADATA": committed },
      complete: ["ckpt_7 7 orbax"],
    },
  ],
  "single-file": [
    { what: "overwritten in place", tree: files("ckpt.pt"), complete: ["ckpt.pt undefined single-file"] },
    {
      what: "a step in the name",
      tree: files("model_100.pt", "model_200.pt"),
      complete: ["model_100.pt 100 single-file", "model_200.pt 200 single-file"],
    },
    {
      what: "several files of one step",
      tree: files("weights-step100.safetensors", "optim-step100.pt"),
      complete: ["weights-step100.safetensors 100 single-file"],
    },
    {
      what: "a cut archive",
      tree: { "ckpt.pt": valid("ckpt.pt").subarray(0, 590) },
      complete: [],
      waitingFor: /zip end record is missing/,
    },
    {
      what: "a pickle that is no archive is not refused",
      tree: { "old.pth": Buffer.from("\x80\x02}q\x00.", "latin1") },
      complete: ["old.pth undefined single-file"],
    },
    { what: "epochs", tree: files("epoch_3.pth"), complete: ["epoch_3.pth 3 single-file"] },
  ],
  generic: [
    {
      what: "several files that nothing recognises",
      tree: files("model.pt", "state.json"),
      complete: [" undefined generic"],
    },
    {
      what: "stepped files beside a state file: all of it",
      tree: files("model_100.pt", "state.json"),
      complete: [" undefined generic"],
    },
    { what: "rank files are no steps", tree: files("rank_0.pt", "rank_1.pt"), complete: [" undefined generic"] },
    {
      what: "settings alone are no checkpoint",
      tree: { ...files("config.json"), "train.py": "x", "run.log": "x" },
      complete: [],
    },
    {
      what: "a zero-length file",
      tree: { ...files("model.npy"), "x.dat": "" },
      complete: [],
      waitingFor: /x\.dat is not whole: it is empty/,
    },
  ],
  "complete-when": [
    {
      what: "a marker in the folder",
      options: { completeWhen: "*/DONE" },
      tree: { ...within("run-7", "a.bin"), "run-7/DONE": "" },
      complete: ["run-7 7 complete-when"],
    },
    { what: "no marker", options: { completeWhen: "*/DONE" }, tree: within("run-7", "a.bin"), complete: [] },
    {
      what: "a sibling of a file",
      options: { completeWhen: "*.done" },
      tree: { ...files("step_9.pt"), "step_9.done": "" },
      complete: ["step_9.pt 9 complete-when"],
    },
    {
      what: "a sibling of a folder",
      options: { completeWhen: "*.done" },
      tree: { ...within("step_9", "a.bin"), "step_9.done": "" },
      complete: ["step_9 9 complete-when"],
    },
    {
      what: "at the top: all of the directory",
      options: { completeWhen: "_SUCCESS" },
      tree: { ...files("a.bin", "b/c.npy"), _SUCCESS: "" },
      complete: [" undefined complete-when"],
    },
    {
      what: "a marker left over from an earlier save",
      options: { completeWhen: "*/DONE" },
      tree: { ...within("run-7", "a.bin"), "run-7/DONE": "" },
      then: age(50, "run-7/DONE"),
      complete: [],
      waitingFor: /newer than its marker/,
    },
    {
      what: "one marker a rank",
      options: { completeWhen: "*/.rank_*_complete" },
      tree: { ...within("run-7", "a.bin"), "run-7/.rank_0_complete": "", "run-7/.rank_1_complete": "" },
      complete: ["run-7 7 complete-when"],
    },
    {
      what: "its structure is checked all the same",
      options: { completeWhen: "*/DONE" },
      tree: { "run-7/a.pt": valid("a.pt").subarray(0, 590), "run-7/DONE": "" },
      complete: [],
      waitingFor: /zip end record/,
    },
  ],
  ignore: [
    {
      what: "a pattern leaves a folder out",
      options: { ignore: ["broken-*", "**/*.junk"] },
      tree: { ...files("m.pt"), "broken-1/x.pt": "PK", "a.junk": "" },
      complete: ["m.pt undefined single-file"],
    },
  ],
};

async function look(each: Case) {
  const root = temporaryDirectory();
  const clock = new FakeClock(Date.now());
  writeTree(root, each.tree);
  for (const [path, target] of Object.entries(each.links ?? {})) symlinkSync(target, join(root, path));
  each.then?.(root);
  const detector = createDetector({ root, clock, ...each.options });
  const writer = { state: "running", pid: process.pid } as const;
  const first = await detector.poll(writer);
  await clock.advance(3_100);
  const complete = await detector.poll(writer);
  return { first, complete, waitingFor: detector.waitingFor };
}

describe.each(Object.entries(cases))("%s", (_name, table) => {
  test.each(table)("$what", async (each) => {
    const { first, complete, waitingFor } = await look(each);
    expect(first).toEqual([]);
    expect(complete.map(({ path, step, convention }) => `${path} ${step} ${convention}`)).toEqual(each.complete);
    if (each.waitingFor) expect(waitingFor).toMatch(each.waitingFor);
  });
});

describe("pointers", () => {
  const two = { ...distcp("step-20"), ...at("step-20", metadata), ...distcp("step-40"), ...at("step-40", metadata) };
  const told = (complete: Awaited<ReturnType<typeof look>>["complete"]) =>
    complete.map(({ pointers }) =>
      pointers.map(({ path, content }) => [
        path,
        content.type === "link" ? content.target : Buffer.from(content.bytes).toString(),
      ]),
    );

  test.each([
    ["a name", "step-40\n", ["step-20\n", "step-40\n"]],
    ["a number", "40", ["20", "40"]],
    ["a path", "out/step-40", ["out/step-20", "out/step-40"]],
    ["torn: empty", "", ["step-20", "step-40"]],
  ])("a text file that holds %s names each checkpoint in its own way", async (_style, text, expected) => {
    const { complete } = await look({ what: "", tree: { ...two, latest: text }, complete: [] });
    expect(told(complete)).toEqual(expected.map((line) => [["latest", line]]));
  });

  test("a link is turned to the checkpoint it is stored with", async () => {
    const tree = { "epoch=0-step=20.ckpt": lightningFile(20), "epoch=1-step=40.ckpt": lightningFile(40) };
    const { complete } = await look({ what: "", tree, links: { "last.ckpt": "epoch=1-step=40.ckpt" }, complete: [] });
    expect(told(complete)).toEqual([[["last.ckpt", "epoch=0-step=20.ckpt"]], [["last.ckpt", "epoch=1-step=40.ckpt"]]]);
  });

  test("a tracker of iterations that is being rewritten still gets a number", async () => {
    const { complete } = await look({
      what: "",
      tree: { ...two, "latest_checkpointed_iteration.txt": "" },
      complete: [],
    });
    expect(
      told(complete)
        .flat()
        .map(([, line]) => line),
    ).toEqual(["20", "40"]);
  });
});

test("markers are named so that a restore can write them last, the step's own at the very end", async () => {
  const tree = {
    ...orbaxItem("20"),
    "20/default/commit_success.txt": "",
    "20/_CHECKPOINT_METADATA": committed,
    "20/commit_success.txt": "",
  };
  const { complete } = await look({ what: "", tree, complete: [] });
  expect(complete[0]?.markers).toEqual([
    "20/default/commit_success.txt",
    "20/_CHECKPOINT_METADATA",
    "20/commit_success.txt",
  ]);
});

test("a Trainer's save on a signal is complete when its sentinel has gone", async () => {
  const root = temporaryDirectory();
  const clock = new FakeClock(Date.now());
  writeTree(root, { ...trainer(20, "trainer_state.json"), "checkpoint-20/checkpoint-is-incomplete.txt": "x" });
  const detector = createDetector({ root, clock });
  const writer = { state: "running", pid: process.pid } as const;
  expect(await detector.poll(writer)).toEqual([]);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
  rmSync(join(root, "checkpoint-20/checkpoint-is-incomplete.txt"));
  await detector.poll(writer);
  await clock.advance(500);
  expect((await detector.poll(writer)).map(({ path }) => path)).toEqual(["checkpoint-20"]);
});

test("a DCP folder written again is not complete from the moment its metadata goes until it is back", async () => {
  const root = temporaryDirectory();
  const clock = new FakeClock(Date.now());
  const writer = { state: "running", pid: process.pid } as const;
  writeTree(root, { ...distcp("step-20"), ...at("step-20", metadata) });
  const detector = createDetector({ root, clock });
  const poll = async () => {
    await clock.advance(1_000);
    return (await detector.poll(writer)).map(({ fingerprint }) => fingerprint);
  };
  await poll();
  const before = await poll();
  expect(before).toHaveLength(1);
  rmSync(join(root, "step-20/.metadata"));
  expect(await poll()).toEqual([]);
  writeTree(root, { "step-20/__0_0.distcp": "new shard" });
  expect(await poll()).toEqual([]);
  writeTree(root, { "step-20/.metadata.tmp": metadata[".metadata"] });
  renameSync(join(root, "step-20/.metadata.tmp"), join(root, "step-20/.metadata"));
  await poll();
  const after = await poll();
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
});

test("an empty directory holds nothing", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "logs"));
  const detector = createDetector({ root, clock: new FakeClock(Date.now()) });
  expect(await detector.poll({ state: "not-started" })).toEqual([]);
  expect(detector.waitingFor).toBeUndefined();
});
