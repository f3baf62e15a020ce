import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDetector, scanDirectory } from "../../src/checkpoint/detect/index.ts";
import { FakeClock } from "../../src/testing/index.ts";
import { temporaryDirectory, writeTree } from "./support.ts";

test("sees files, folders and links in order of their paths, and leaves out its own folder at the top only", async () => {
  const root = temporaryDirectory();
  writeTree(root, { "a/b.txt": "12", "a-b": "1", ".outlast/note.json": "{}", "a/.outlast/x": "1" });
  symlinkSync("a/b.txt", join(root, "link"));
  const { entries } = await scanDirectory(root);
  expect([...entries.values()].map(({ path, type, size }) => `${path} ${type} ${type === "file" ? size : ""}`)).toEqual(
    ["a directory ", "a-b file 1", "a/.outlast directory ", "a/.outlast/x file 1", "a/b.txt file 2", "link link "],
  );
  expect(entries.get("link")?.target).toBe("a/b.txt");
});

test("keeps names that are not UTF-8, and reports a checkpoint with such a name", async () => {
  const root = temporaryDirectory();
  const stray = Buffer.concat([Buffer.from(`${root}/w-`), Buffer.of(0xff, 0xe2), Buffer.from(".dat")]);
  writeFileSync(stray, "bytes");
  mkdirSync(Buffer.concat([Buffer.from(`${root}/d`), Buffer.of(0xfe)]));
  const { entries } = await scanDirectory(root);
  expect([...entries.keys()]).toEqual(["d\udcfe", "w-\udcff\udce2.dat"]);
  const detector = createDetector({ root, clock: new FakeClock(Date.now()) });
  const [found] = await detector.poll({ state: "exited" });
  expect(found?.entries.map(({ path }) => path)).toEqual(["d\udcfe", "w-\udcff\udce2.dat"]);
  expect(found && (await detector.recheck(found))).toBe(true);
});

test("files that vanish during the walk are simply not there", async () => {
  const root = temporaryDirectory();
  for (let folder = 0; folder < 20; folder += 1) {
    for (let file = 0; file < 50; file += 1) writeTree(root, { [`d${folder}/f${file}`]: "x" });
  }
  const scan = scanDirectory(root);
  for (let folder = 0; folder < 20; folder += 1) rmSync(join(root, `d${folder}`), { recursive: true });
  await expect(scan).resolves.toBeDefined();
});

test("a directory that is not there is an error that says so", async () => {
  await expect(scanDirectory("/nonexistent/checkpoints")).rejects.toMatchObject({ code: "OUTLAST_DIR_MISSING" });
});
