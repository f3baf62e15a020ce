import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CompleteCheckpoint } from "../detect/index.ts";
import { scanDirectory } from "../detect/index.ts";
import { readSource } from "../transfer/read-source.ts";
import { listBelow } from "./bucket-files.ts";
import { moveAside } from "./move-aside.ts";
import type { Note } from "./note.ts";
import { createNoteFile } from "./note-file.ts";
import type { OwnFolder } from "./own-folder.ts";
import { beginRestoring, endRestoring, undoRestoring } from "./restoring.ts";
import { takeSnapshot } from "./snapshot.ts";

let dir: string;
let own: OwnFolder;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "outlast-bucket-"));
  const root = join(dir, ".outlast");
  mkdirSync(root);
  own = {
    root,
    bucket: { point: dir, bucket: "b", address: "gs://b" },
    note: join(root, "note.json"),
    stage: join(dir, "stage"),
    snapshot: join(root, "snapshot"),
    aside: join(root, "aside"),
  };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const note = (epoch: number): Note => ({ run: "r", store: "s", epoch, base: 0, boot: "b", complete: [] });

describe("the note on a mounted bucket", () => {
  it("is a new file each time, and the one before is deleted afterwards", async () => {
    const file = createNoteFile(own);
    expect(await file.read()).toBeUndefined();
    await Promise.all([1, 2, 3].map((epoch) => file.write(note(epoch))));
    expect(await createNoteFile(own).read()).toMatchObject({ epoch: 3 });
    expect(readdirSync(own.root)).toEqual(["note-3.json"]);
  });

  it("is the newest whole one: a kill may leave one cut short", async () => {
    await createNoteFile(own).write(note(7));
    const whole = readFileSync(join(own.root, "note-1.json"));
    writeFileSync(join(own.root, "note-2.json"), whole.subarray(0, whole.length / 2));
    writeFileSync(join(own.root, "note-10.json"), "");
    expect(await createNoteFile(own).read()).toMatchObject({ epoch: 7 });
    await createNoteFile(own).write(note(8));
    expect(readdirSync(own.root)).toEqual(["note-11.json"]);
  });
});

describe("moving aside on a mounted bucket", () => {
  it("goes file by file into a folder of its own, and leaves no folder behind", async () => {
    const folder = join(dir, "5");
    mkdirSync(join(folder, "state"), { recursive: true });
    for (const name of ["a", "state/x", "meta", "success"]) writeFileSync(join(folder, name), name);
    symlinkSync("a", join(folder, "link"));
    mkdirSync(join(own.aside, "1-x"), { recursive: true });
    const markers = ["5/meta", "5/success"];
    const to = await moveAside(dir, own, { label: "1-x", paths: ["5", "not-there"], markers });
    expect(to).toBe(join(own.aside, "1-x.2"));
    expect((await listBelow(to, "5")).files.toSorted()).toEqual(["5/a", "5/link", "5/meta", "5/state/x", "5/success"]);
    expect(existsSync(folder)).toBe(false);
  });

  it("has taken the marker away before it comes to anything else", async () => {
    mkdirSync(join(dir, "5"));
    for (const name of ["a", "marker"]) writeFileSync(join(dir, "5", name), name);
    // A folder where the file would go makes both renaming and copying it fail.
    const work = moveAside(dir, own, {
      label: "1-x",
      markers: ["5/marker"],
      paths: lazily(() => mkdirSync(join(own.aside, "1-x", "5", "a"), { recursive: true }), "5"),
    });
    await expect(work).rejects.toThrow(/EISDIR|EEXIST/);
    expect(readdirSync(join(dir, "5"))).toEqual(["a"]);
    expect(readFileSync(join(own.aside, "1-x", "5", "marker"), "utf8")).toBe("marker");
  });
});

describe("a restore that was cut off", () => {
  it("is undone as far as its record says, and no further", async () => {
    mkdirSync(join(dir, "checkpoint-5"));
    for (const name of ["checkpoint-5/a", "checkpoint-5/marker", "latest", "mine"])
      writeFileSync(join(dir, name), name);
    await beginRestoring(own.root, { units: ["checkpoint-5", "latest"], last: ["checkpoint-5/marker", "latest"] });
    await undoRestoring(dir, own.root);
    expect(readdirSync(dir)).toEqual([".outlast", "mine"]);
    expect(readdirSync(own.root)).toEqual([]);
  });

  it("cannot be ended by one start after another has undone it", async () => {
    const record = await beginRestoring(own.root, { units: [], last: [] });
    await undoRestoring(dir, own.root);
    await expect(endRestoring(own.root, record)).rejects.toMatchObject({ code: "OUTLAST_FILE_FAILED" });
    await beginRestoring(own.root, { units: [], last: [] });
    await expect(endRestoring(own.root, record)).rejects.toMatchObject({ code: "OUTLAST_FILE_FAILED" });
  });

  it("had written nothing if its record is cut short", async () => {
    writeFileSync(join(own.root, "restoring.json"), '{"sha256":"');
    writeFileSync(join(dir, "mine"), "");
    await undoRestoring(dir, own.root);
    expect(readdirSync(dir)).toEqual([".outlast", "mine"]);
    expect(readdirSync(own.root)).toEqual([]);
  });
});

describe("a snapshot on a mounted bucket", () => {
  it("makes nothing, reads in place, and looks before it opens", async () => {
    writeFileSync(join(dir, "model.pt"), "weights");
    const entries = [...(await scanDirectory(dir, { isBucket: true })).entries.values()];
    const checkpoint: CompleteCheckpoint = {
      convention: "single-file",
      path: "model.pt",
      step: 1,
      entries,
      markers: [],
      pointers: [],
      state: "unmarked",
      why: "",
      fingerprint: "f",
    };
    const snapshot = await takeSnapshot(dir, own, checkpoint);
    expect(readdirSync(own.root)).toEqual([]);
    const [file] = snapshot.files;
    if (!file) throw new Error("no file");
    const part = { ...file, fileSize: file.size, offset: 0, length: file.size };
    const into = Buffer.alloc(file.size);
    readSource(part, into);
    expect(into.toString()).toBe("weights");
    // Written again in place, with the same size.
    const { mtimeMs } = statSync(join(dir, "model.pt"));
    utimesSync(join(dir, "model.pt"), mtimeMs / 1000 + 5, mtimeMs / 1000 + 5);
    expect(() => readSource(part, into)).toThrow(/written to/);
    await expect(takeSnapshot(dir, own, checkpoint)).rejects.toMatchObject({ code: "OUTLAST_SOURCE_CHANGED" });
    await snapshot.remove();
    expect(existsSync(join(dir, "model.pt"))).toBe(true);
  });
});

/** One path, after something was done. */
function* lazily(act: () => void, path: string): Generator<string> {
  act();
  yield path;
}
