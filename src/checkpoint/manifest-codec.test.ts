import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../testing/index.ts";
import { hashHex } from "./hash.ts";
import type { FileEntry, Manifest, ManifestEntry } from "./manifest.ts";
import { getLooseManifest, getManifest, manifestKey, parseManifestKey, putManifest } from "./manifest-codec.ts";
import { openRun } from "./run-store.ts";
import { seal } from "./sealed-json.ts";

const hash = hashHex("sha256", Buffer.from("weights"));

const file: FileEntry = {
  type: "file",
  path: "step-5/weights.bin",
  size: 7,
  mode: 0o644,
  mtimeMs: 0,
  hash: hashHex("sha256", Buffer.from(hash, "hex")),
  pieces: [[0, 0, 7]],
};

const manifest: Manifest = {
  format: 1,
  run: "r",
  step: 5,
  shard: 0,
  of: 1,
  gang: 3,
  epoch: 3,
  shipment: 2,
  convention: "test",
  path: "step-5",
  hash: "sha256",
  chunks: [{ key: `chunks/${hash.slice(0, 2)}/${hash}.3-2`, hash, size: 7 }],
  entries: [
    { type: "directory", path: "step-5", mode: 0o755 },
    file,
    { type: "link", path: "latest", target: "step-5" },
  ],
  last: ["latest"],
  bytes: 7,
  savedAt: "",
};

/** What reading a manifest of this content leads to, however it came into the store. */
async function readBack(content: unknown): Promise<unknown> {
  const store = new MemoryStore();
  const run = openRun(store, "r");
  const key = manifestKey(manifest);
  const bytes = seal(content);
  await run.put(key, bytes);
  return getManifest(run, { shard: 0, key, hash: hashHex("sha256", bytes) }, "sha256").catch((error: unknown) => error);
}

const invalid = expect.objectContaining({ code: "OUTLAST_MANIFEST_INVALID", exitCode: 76 });
const damaged = expect.objectContaining({ code: "OUTLAST_CHECKPOINT_DAMAGED" });

describe("a manifest", () => {
  it("comes back as it was, by its reference and by its key alone", async () => {
    const run = openRun(new MemoryStore(), "r");
    const ref = await putManifest(run, manifest);
    expect(ref.key).toBe("steps/5/0-of-1.3-3-2.json");
    expect(await getManifest(run, ref, "sha256")).toEqual(manifest);
    expect(await getLooseManifest(run, ref.key, "sha256")).toEqual({ manifest, ref });
  });

  it("has a key that says what it is, and nothing else has", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
        ([step = 0, shard = 0, of = 0, gang = 0, epoch = 0, shipment = 0]) => {
          const parts = { step, shard, of, gang, epoch, shipment };
          expect(parseManifestKey(manifestKey({ ...manifest, ...parts }))).toEqual(parts);
        },
      ),
    );
    for (const key of ["steps/5/x.json", "steps/5/0-of-1.3-3-2.json.part", "chunks/ab/cd", ""]) {
      expect(parseManifestKey(key)).toBeUndefined();
    }
  });

  it("is damaged when any bit differs or any byte is missing", async () => {
    const store = new MemoryStore();
    const run = openRun(store, "r");
    const ref = await putManifest(run, manifest);
    const bytes = store.objects.get(`r/${ref.key}`) ?? new Uint8Array();
    for (let at = 0; at < bytes.length; at += 1) {
      const spoilt = Uint8Array.from(bytes);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (at % 8));
      for (const body of [spoilt, bytes.subarray(0, at)]) {
        store.objects.set(`r/${ref.key}`, body);
        await expect(getManifest(run, ref, "sha256")).rejects.toEqual(damaged);
        await expect(getLooseManifest(run, ref.key, "sha256")).rejects.toEqual(damaged);
      }
    }
  });

  it("is damaged when another whole manifest lies in its place", async () => {
    const run = openRun(new MemoryStore(), "r");
    const ref = await putManifest(run, manifest);
    await run.put(ref.key, seal({ ...manifest, bytes: 8 }));
    await expect(getManifest(run, ref, "sha256")).rejects.toEqual(damaged);
  });

  const other = (entry: Partial<ManifestEntry>) => ({
    ...manifest,
    entries: [...manifest.entries, { type: "directory", path: "x", mode: 0o755, ...entry }],
  });
  const link = (path: string, target: unknown) => other({ type: "link", path, target } as Partial<ManifestEntry>);
  const pieces = (value: unknown) => ({
    ...manifest,
    entries: [{ ...file, path: "f", pieces: value }],
    last: [],
    path: "",
  });
  const chunk = (change: object) => ({ ...manifest, chunks: [{ ...manifest.chunks[0], ...change }] });

  const hostile: Readonly<Record<string, unknown>> = {
    "a path above": other({ path: "../x" }),
    "a path above, further in": other({ path: "a/../../x" }),
    "a path that goes up and comes back": other({ path: "a/../b" }),
    "an absolute path": other({ path: "/abs" }),
    "an empty path": other({ path: "" }),
    "a path with an empty segment": other({ path: "a//b" }),
    "a path with a dot": other({ path: "./a" }),
    "a path with a NUL": other({ path: "a\0b" }),
    "a path that is no text": other({ path: 5 as unknown as string }),
    "outlast's own folder": other({ path: ".outlast" }),
    "something in outlast's own folder": other({ path: ".outlast/note.json" }),
    "a path twice": other({ path: file.path }),
    "something below a file": other({ path: `${file.path}/x` }),
    "something below a link": other({ path: "latest/x" }),
    "a link out of the directory": link("l", "../x"),
    "a link out of the directory, further in": link("a/l", "../../x"),
    "a link to an absolute path": link("l", "/etc/passwd"),
    "an empty link": link("l", ""),
    "a link that is no text": link("l", null),
    "a link that leads out through another link": {
      ...manifest,
      entries: [
        ...manifest.entries,
        { type: "link", path: "p/q/up", target: "../.." },
        { type: "link", path: "l", target: "p/q/up/.." },
      ],
    },
    "an entry of unknown type": other({ type: "device" } as unknown as Partial<ManifestEntry>),
    "an entry that is nothing": { ...manifest, entries: [null] },
    "a piece of no chunk": pieces([[1, 0, 7]]),
    "a piece beyond its chunk": pieces([[0, 1, 7]]),
    "a piece before its chunk": pieces([[0, -1, 7]]),
    "a piece that is not whole": pieces([[0, 0.5, 7]]),
    "a piece that is no number": pieces([[0, null, 7]]),
    "pieces that do not add up": pieces([[0, 0, 6]]),
    "no pieces": pieces(undefined),
    "a chunk that is a log record": chunk({ key: "log/00000000000000000001.json" }),
    "a chunk above the run": chunk({ key: `../other/chunks/${hash.slice(0, 2)}/${hash}.3-2` }),
    "a chunk named after other content": chunk({ hash: "0".repeat(64) }),
    "a chunk of no size": chunk({ size: -1 }),
    "a marker that is not there": { ...manifest, last: ["elsewhere"] },
    "a checkpoint elsewhere": { ...manifest, path: "../x" },
    "another step than its key": { ...manifest, step: 6 },
    "another past than its key": { ...manifest, gang: 4 },
    "a newer format": { ...manifest, format: 2 },
    nothing: null,
    "a number": 5,
    "no lists": { ...manifest, entries: undefined, chunks: undefined },
  };

  it.each(Object.entries(hostile))("is refused when it holds %s", async (_, content) => {
    expect(await readBack(content)).toEqual(invalid);
  });

  it("is not even stored when no restore would take it", async () => {
    const store = new MemoryStore();
    const run = openRun(store, "r");
    for (const [name, content] of Object.entries(hostile)) {
      if (
        ["another step than its key", "another past than its key", "a newer format", "nothing", "a number"].includes(
          name,
        )
      )
        continue;
      await expect(putManifest(run, content as Manifest), name).rejects.toEqual(invalid);
    }
    expect(store.objects.size).toBe(0);
  });

  it("takes links that stay inside, loops included", async () => {
    const entries: ManifestEntry[] = [
      ...manifest.entries,
      { type: "link", path: "a/up", target: "../step-5/weights.bin" },
      { type: "link", path: "self", target: "self" },
      { type: "link", path: "top", target: "." },
      { type: "link", path: "gone", target: "nowhere/at/all" },
    ];
    expect(await readBack({ ...manifest, entries })).toEqual({ ...manifest, entries });
  });
});
