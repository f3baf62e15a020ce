import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Manifest, ManifestEntry } from "../../src/checkpoint/manifest.ts";
import { needs } from "../support/need.ts";
import { runOutlast } from "../support/run-outlast.ts";
import { Scene } from "./support/scene.ts";
import { test } from "./support/scene-test.ts";
import { canMount, mountReadOnly, mountTmpfs, unmount } from "./support/small-disk.ts";
import {
  copyStore,
  forgeManifest,
  headOf,
  resumedFrom,
  run,
  startAfresh,
  storeRun,
  training,
} from "./support/stored-run.ts";

const original = new Scene();
beforeAll(() => storeRun(original, 2), 60_000);
afterAll(() => original.end());

const hasMounts = needs(
  "the right to mount a tmpfs",
  canMount(),
  "run the tests as root, or in a container with CAP_SYS_ADMIN",
);

describe.concurrent("wrong usage ends with 2, one error and a hint, before anything is touched", () => {
  const flag = ["--frobnicate", "1"];
  test.for([
    ["an unknown flag", (scene: Scene) => scene.run("r", scene.dir(), ["true"], flag)],
    ["an unknown variable", (scene: Scene) => scene.run("r", scene.dir(), ["true"], [], { OUTLAST_FROBNICATE: "1" })],
    [
      "an unknown key",
      (scene: Scene) => scene.run("r", scene.dir(), ["true"], ["--config", yaml(scene, "frobnicate: 1\n")]),
    ],
    ["a run name with slashes", (scene: Scene) => scene.run("a/b", scene.dir(), ["true"])],
    ["a run name that climbs out", (scene: Scene) => scene.run("../r", scene.dir(), ["true"])],
    ["a missing directory", (scene: Scene) => scene.run("r", join(scene.root, "nowhere"), ["true"])],
    ["a directory that is a file", (scene: Scene) => scene.run("r", yaml(scene, ""), ["true"])],
    ["no program", (scene: Scene) => scene.run("r", scene.dir(), [])],
    ["a shard that cannot be", (scene: Scene) => scene.run("r", scene.dir(), ["true"], ["--shard", "4/4"])],
    ["a store below nothing", (scene: Scene) => start(scene, join(scene.root, "not", "mounted"))],
    ["a store that is a file", (scene: Scene) => start(scene, yaml(scene, ""))],
    ["a store of an unknown kind", (scene: Scene) => start(scene, "ftp://host/store")],
  ] as const)("%s", async ([, begin], { scene }) => {
    const started = begin(scene);
    expect(await started.code(), started.output).toBe(2);
    expect(started.output).toMatch(/^error: [^\n]+\n\nhint: [^\n]+\n/m);
    expect(started.output).not.toContain("this is a bug");
    expect(existsSync(join(scene.store, "r")), "something was stored").toBe(false);
  });
});

describe.concurrent("a manifest that was tampered with is refused before anything is written", () => {
  const entry = (change: (file: ManifestEntry) => ManifestEntry) => (manifest: Manifest) => {
    const [first, ...rest] = manifest.entries.filter(({ type }) => type === "file");
    if (!first) throw new Error("no file");
    const others = manifest.entries.filter(({ type }) => type !== "file");
    return { ...manifest, entries: [...others, ...rest, change(first)], last: [] };
  };
  const outside = join(original.root, "outside");
  const named = (path: string) => entry((file) => ({ ...file, path }));
  const linked = (target: string) => entry(({ path }) => ({ type: "link", path, target }));
  const cases: readonly [string, (manifest: Manifest) => Manifest][] = [
    ["../", named("../outside")],
    ["a path that climbs out of a folder", named("checkpoint-40/../../outside")],
    ["an absolute path", named(outside)],
    ["outlast's own folder", named(".outlast/note.json")],
    ["a link out of the tree", linked("../../outside")],
    ["an absolute link", linked(outside)],
    [
      "a file below a link",
      (manifest) => ({
        ...named("checkpoint-40/hole/outside")(manifest),
        entries: [
          { type: "link", path: "checkpoint-40/hole", target: ".." },
          ...named("checkpoint-40/hole/outside")(manifest).entries,
        ],
      }),
    ],
    ["the checkpoint itself outside", (manifest) => ({ ...manifest, path: "../outside" })],
    [
      "a chunk outside of the run",
      (manifest) => ({ ...manifest, chunks: manifest.chunks.map((chunk) => ({ ...chunk, key: "../other/chunks/x" })) }),
    ],
  ];

  test.for(cases)("%s", async ([, change], { scene }) => {
    copyStore(original, scene);
    forgeManifest(scene.store, change);
    const { code, start: first, log } = await startAfresh(scene);
    // The older checkpoint is untouched and takes its place.
    expect(code, first.output).toBe(0);
    expect(resumedFrom(log)?.step).toBe(20);
    expect(first.lines.find(({ message }) => message.includes("damaged"))?.["why"]).toMatch(/manifest/);
    expect(existsSync(join(scene.root, "outside"))).toBe(false);
    expect(existsSync(outside)).toBe(false);
  });

  test("with nothing older left it ends with 76 and an empty directory", async ({ scene }) => {
    copyStore(original, scene);
    forgeManifest(scene.store, named("../outside"));
    const { commits } = headOf(scene.store).state;
    for (const ref of commits[0]?.manifests ?? []) writeFileSync(join(scene.store, run, ref.key), "{}");
    const { code, start: first, log, dir } = await startAfresh(scene);
    expect(code, first.output).toBe(76);
    expect(resumedFrom(log)).toBeUndefined();
    expect(readdirSync(dir).filter((name) => name !== ".outlast")).toEqual([]);
  });
});

describe.skipIf(!hasMounts)("disks", () => {
  test("a store that cannot be written to", async ({ scene }) => {
    copyStore(original, scene);
    mountReadOnly(scene.store);
    try {
      const { code, start: refused, log } = await startAfresh(scene);
      expect(code, refused.output).toBe(2);
      expect(refused.output).toMatch(/^error: [^\n]*read-only[^\n]*\n\nhint: /m);
      expect(resumedFrom(log)).toBeUndefined();
    } finally {
      unmount(scene.store);
    }
    const { code, start: again } = await startAfresh(scene);
    expect(code, again.output).toBe(0);
  });

  test("full while restoring: an error that says so, nothing stored is harmed, and more space is all it needs", async ({
    scene,
  }) => {
    const dir = scene.dir("large");
    const origin = [
      "sh",
      "-c",
      `mkdir ${dir}/checkpoint-5 && head -c 6291456 /dev/urandom > ${dir}/checkpoint-5/optimizer.pt && echo '{}' > ${dir}/checkpoint-5/trainer_state.json; exit 9`,
    ];
    const stored = scene.run("large", dir, origin);
    expect(await stored.code(), stored.output).toBe(9);

    const small = mountTmpfs(scene.dir("small"), "2m");
    try {
      const refused = scene.run("large", small, ["touch", join(scene.root, "was-started")]);
      expect(await refused.code(), refused.output).toBe(1);
      expect(refused.output).toMatch(/^error: [^\n]*(?:space|ENOSPC)[^\n]*\n\nhint: /m);
      expect(existsSync(join(scene.root, "was-started"))).toBe(false);
      expect(readdirSync(small).filter((name) => name !== ".outlast")).toEqual([]);
    } finally {
      unmount(small);
    }
    const verify = await runOutlast(["checkpoints", "verify", "--store", scene.store, "--run", "large"]);
    expect(verify.code, verify.stdout).toBe(0);
    const roomy = scene.dir("roomy");
    const resumed = scene.run("large", roomy, [
      "cmp",
      join(dir, "checkpoint-5/optimizer.pt"),
      join(roomy, "checkpoint-5/optimizer.pt"),
    ]);
    expect(await resumed.code(), resumed.output).toBe(0);
  });

  test("a store that fills up: training goes on, a warning, and the next checkpoint commits when there is space again", async ({
    scene,
  }) => {
    mkdirSync(scene.store);
    mountTmpfs(scene.store, "8m");
    try {
      const { log, dir, command } = training(scene, { paceMs: 10, every: 40 });
      const start = scene.run(run, dir, command);
      await start.says("checkpoint committed");
      const filler = join(scene.store, "filler");
      spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k"]);
      const before = headOf(scene.store).state.commits.at(-1)?.step ?? 0;
      await start.says("could not be shipped");
      expect(start.output).toMatch(/space|ENOSPC/);
      expect(headOf(scene.store).state.commits.at(-1)?.step).toBe(before);
      const whole = await runOutlast(["checkpoints", "verify", "--store", scene.store, "--run", run]);
      expect(whole.code, whole.stdout + whole.stderr).toBe(0);
      expect(start.hasEnded).toBe(false);
      rmSync(filler);
      const committed = () => headOf(scene.store).state.commits.at(-1)?.step ?? 0;
      const end = Date.now() + 20_000;
      while (committed() <= before && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
      expect(committed(), start.output).toBeGreaterThan(before);
      start.kill("SIGTERM");
      expect(await start.code(), start.output).toBe(75);
      expect(resumedFrom(log)?.step).toBe(0);
      const verify = await runOutlast(["checkpoints", "verify", "--store", scene.store, "--run", run]);
      expect(verify.code, verify.stdout).toBe(0);
    } finally {
      await scene.stop();
      unmount(scene.store);
    }
  });

  test("a store that is full from the start: refused with a hint, and the program is not started", async ({
    scene,
  }) => {
    mkdirSync(scene.store);
    mountTmpfs(scene.store, "1m");
    try {
      spawnSync("dd", ["if=/dev/zero", `of=${join(scene.store, "filler")}`, "bs=4k"]);
      const refused = scene.run("r", scene.dir(), ["touch", join(scene.root, "was-started")]);
      expect(await refused.code(), refused.output).toBe(1);
      expect(refused.output).toMatch(/^error: [^\n]*space[^\n]*\n\nhint: /m);
      expect(existsSync(join(scene.root, "was-started"))).toBe(false);
    } finally {
      unmount(scene.store);
    }
  });
});

function start(scene: Scene, store: string) {
  return scene.start(["run", "--store", store, "--dir", scene.dir(), "--run", "r", "--notice", "signal", "--", "true"]);
}

function yaml(scene: Scene, text: string): string {
  const path = join(scene.root, "outlast.yaml");
  writeFileSync(path, text);
  return path;
}
