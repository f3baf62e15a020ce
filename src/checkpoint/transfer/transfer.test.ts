import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeTree, readTree, type Tree, writeTree } from "../../../test/conformance/file-tree.ts";
import { bucketsOf } from "../../../test/transfer/buckets.ts";
import { hasFakeGcsServer, startFakeGcsServer } from "../../../test/servers/gcs.ts";
import { hasVersitygw, startVersitygw } from "../../../test/servers/s3.ts";
import { MemoryStore, type ObjectStore, openStore } from "../../storage/index.ts";
import { type HashName, hashHex } from "../hash.ts";
import type { Manifest, ManifestChunk } from "../manifest.ts";
import { createTransfer, type SendResult, type Transfer } from "./index.ts";

const MiB = 1024 * 1024;
const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const prefix = "runs/a/";
const noChunks: ReadonlyMap<string, ManifestChunk> = new Map();

/** Bytes that repeat nowhere. */
function noise(size: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(size / 4));
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < words.length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, size);
}

function manifestOf(sent: SendResult, others: Manifest["entries"] = [], hash: HashName = "blake3"): Manifest {
  return {
    format: 1,
    run: "a",
    step: 1,
    shard: 0,
    of: 1,
    gang: 1,
    epoch: 1,
    shipment: 1,
    convention: "generic",
    path: "",
    hash,
    chunks: sent.chunks,
    entries: [...others, ...sent.entries],
    last: [],
    bytes: sent.bytes,
    savedAt: "",
  };
}

let folder: string;
let source: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-transfer-"));
  source = join(folder, "source");
  await mkdir(source);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Engine {
  readonly name: string;
  readonly isThere: boolean;
  readonly isSlow?: "rather" | "very";
  readonly transfer: Transfer;
  readonly open: () => Promise<ObjectStore>;
}

const s3 = bucketsOf(() => startVersitygw());
const gcs = bucketsOf(() => startFakeGcsServer());
const engines: readonly Engine[] = [
  {
    name: "worker threads",
    isThere: true,
    transfer: createTransfer(),
    open: () => openStore(join(folder, "store"), { access: "write" }),
  },
  {
    name: "inline",
    isThere: true,
    transfer: createTransfer({ inline: true }),
    open: () => Promise.resolve(new MemoryStore()),
  },
  {
    name: "worker threads to S3",
    isThere: hasVersitygw(),
    isSlow: "rather",
    transfer: createTransfer(),
    open: () => s3.open(),
  },
  {
    name: "worker threads to GCS",
    isThere: hasFakeGcsServer(),
    isSlow: "very",
    transfer: createTransfer(),
    open: () => gcs.open(),
  },
];
afterAll(async () => {
  await Promise.all(engines.map(({ transfer }) => transfer.close()));
  await Promise.all([s3.stop(), gcs.stop()]);
});

async function ship(
  transfer: Transfer,
  store: ObjectStore,
  owner = "1-1",
  reusable = noChunks,
  hash: HashName = "blake3",
): Promise<{ manifest: Manifest; sent: SendResult }> {
  const { files, others } = await describeTree(source);
  const sent = await transfer.send({ store, prefix, hash, owner, files, reusable });
  return { manifest: manifestOf(sent, others, hash), sent };
}

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  return keys;
}

function overwrite(store: ObjectStore, chunk: ManifestChunk, change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
  return store.get(prefix + chunk.key).then((bytes) => store.put(prefix + chunk.key, change(Uint8Array.from(bytes))));
}

describe.each(engines)("transfer by $name", { timeout: 60_000 }, ({ isThere, isSlow, transfer, open }) => {
  const it = isThere ? test : test.skip;
  // What S3 has shown need not be shown again in every run.
  const itOften = isSlow !== "very" || isSoak ? it : () => {};

  it("brings a mixed tree back byte for byte, with modes, times, links and empty folders", async () => {
    const tree: Tree = new Map<string, Uint8Array | { link: string } | null>([
      ["empty-folder/inner", null],
      ["empty-file", new Uint8Array()],
      ["big.bin", noise(17 * MiB + 5, 1)],
      ["exactly-a-chunk", noise(8 * MiB, 2)],
      ["small/a.json", Buffer.from("{}")],
      ["small/b.json", noise(1 * MiB, 3)],
      ["small/ünï \n'\"$(x)", Buffer.from("hostile")],
      ["small/-rf", Buffer.from("option")],
      ["small/stray\udcff\udc80", Buffer.from("not UTF-8")],
      ["latest", { link: "small/a.json" }],
      ["small/up", { link: "../big.bin" }],
    ]);
    await writeTree(source, tree);
    const store = await open();
    const { manifest, sent } = await ship(transfer, store);
    expect(sent.bytes).toBe(17 * MiB + 5 + 8 * MiB + 2 + 1 * MiB + 7 + 6 + 9);
    expect(sent.sentBytes).toBe(sent.bytes);
    const into = join(folder, "restored");
    const wire = JSON.parse(JSON.stringify(manifest)) as Manifest;
    const result = await transfer.fetch({ store, prefix, manifest: wire, into });
    expect(result).toEqual({ bytes: sent.bytes, fetchedBytes: sent.bytes });
    expect(await readTree(into)).toEqual(await readTree(source));
    expect(await transfer.verify({ store, prefix, manifest })).toEqual([]);
  });

  it("brings random trees back", async () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 8 }),
      fc.constantFrom("a", "b", "c.safetensors", "\udc80", "☃", "..x", "x y"),
    );
    const okName = name.filter((text) => !/[/\0]/.test(text) && text !== "." && text !== ".." && isNameable(text));
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.tuple(fc.integer({ min: 0, max: 3 * MiB }), fc.nat(3)).map(([size, seed]) => noise(size, seed)),
      fc.integer({ min: 0, max: 2 * MiB }).map((size) => new Uint8Array(size)),
      fc.constant(null),
      fc.constant({ link: "a" }),
    );
    const store = await open();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(okName, { minLength: 1, maxLength: 3 }), content), { maxLength: 12 }),
        async (items) => {
          round += 1;
          await rm(source, { recursive: true, force: true });
          await mkdir(source);
          const tree = new Map<string, Uint8Array | { link: string } | null>();
          for (const [path, value] of items) {
            const parents = path.map((_, i) => path.slice(0, i + 1).join("/"));
            const isFree = parents.every((parent, i) => i === path.length - 1 || (tree.get(parent) ?? null) === null);
            const full = path.join("/");
            if (!isFree || [...tree.keys()].some((key) => key === full || key.startsWith(`${full}/`))) continue;
            tree.set(full, value);
          }
          await writeTree(source, tree);
          const { manifest } = await ship(transfer, store, `1-${round}`);
          const into = join(folder, `restored-${round}`);
          await transfer.fetch({ store, prefix, manifest: JSON.parse(JSON.stringify(manifest)) as Manifest, into });
          expect(await readTree(into)).toEqual(await readTree(source));
          await rm(into, { recursive: true });
        },
      ),
      { numRuns: isSoak ? 400 : isSlow ? 6 : 25 },
    );
  });

  it("gives the documented hashes, keys and pieces", async () => {
    const big = noise(9 * MiB, 1);
    const small = Buffer.from("hello");
    await writeTree(
      source,
      new Map([
        ["big", big],
        ["small", small],
      ]),
    );
    const store = await open();
    const { manifest, sent } = await ship(transfer, store, "7-3");
    const [first, rest] = [hashHex("blake3", big.subarray(0, 8 * MiB)), big.subarray(8 * MiB)];
    const pack = Buffer.concat([rest, small]);
    expect(sent.chunks).toEqual([
      { key: `chunks/${first.slice(0, 2)}/${first}.7-3`, hash: first, size: 8 * MiB },
      {
        key: `chunks/${hashHex("blake3", pack).slice(0, 2)}/${hashHex("blake3", pack)}.7-3`,
        hash: hashHex("blake3", pack),
        size: MiB + 5,
      },
    ]);
    const raw = (bytes: Uint8Array) => Buffer.from(hashHex("blake3", bytes), "hex");
    expect(manifest.entries).toMatchObject([
      {
        path: "big",
        pieces: [
          [0, 0, 8 * MiB],
          [1, 0, MiB],
        ],
        hash: hashHex("blake3", Buffer.concat([raw(big.subarray(0, 8 * MiB)), raw(rest)])),
      },
      { path: "small", pieces: [[1, MiB, 5]], hash: hashHex("blake3", raw(small)) },
    ]);
    expect(await keysOf(store)).toEqual(sent.chunks.map((chunk) => prefix + chunk.key).sort());
  });

  itOften("works with SHA-256 too", async () => {
    await writeTree(source, new Map([["x", noise(3 * MiB, 4)]]));
    const store = await open();
    const { manifest } = await ship(transfer, store, "1-1", noChunks, "sha256");
    await transfer.fetch({ store, prefix, manifest, into: join(folder, "restored") });
    expect(await readTree(join(folder, "restored"))).toEqual(await readTree(source));
  });

  itOften("stores equal chunks once", async () => {
    const same = noise(24 * MiB, 5);
    await writeTree(
      source,
      new Map([
        ["best.bin", same],
        ["last.bin", same],
        ["zeros", new Uint8Array(40 * MiB)],
      ]),
    );
    const store = await open();
    const { manifest, sent } = await ship(transfer, store);
    expect(sent.chunks).toHaveLength(4);
    expect(sent.sentBytes).toBe(32 * MiB);
    expect(await keysOf(store)).toHaveLength(4);
    const into = join(folder, "restored");
    const { fetchedBytes } = await transfer.fetch({ store, prefix, manifest, into });
    expect(fetchedBytes).toBe(32 * MiB);
    expect(await readTree(into)).toEqual(await readTree(source));
  });

  itOften("reuses chunks it is given, and keeps their key and where they are from", async () => {
    const bytes = noise(32 * MiB, 6);
    await writeTree(source, new Map([["model.bin", bytes]]));
    const store = await open();
    const first = await ship(transfer, store, "1-1");
    const reusable = new Map(first.sent.chunks.map((chunk) => [chunk.hash, { ...chunk, from: 2 }]));
    const changed = Uint8Array.from(bytes);
    changed[9 * MiB] = (changed[9 * MiB] ?? 0) ^ 1;
    await writeFile(join(source, "model.bin"), changed);
    const second = await ship(transfer, store, "1-2", reusable);
    expect(second.sent.sentBytes).toBe(8 * MiB);
    expect(second.sent.chunks.map((chunk) => chunk.from)).toEqual([2, undefined, 2, 2]);
    expect(second.sent.chunks[0]?.key).toBe(first.sent.chunks[0]?.key);
    expect(second.sent.chunks[1]?.key).toMatch(/\.1-2$/);
    expect(await keysOf(store)).toHaveLength(5);
    await transfer.fetch({ store, prefix, manifest: second.manifest, into: join(folder, "restored") });
    expect(await readTree(join(folder, "restored"))).toEqual(await readTree(source));
  });

  itOften("keeps all data chunks when a safetensors header grows", async () => {
    const data = noise(24 * MiB, 7);
    const withHeader = (json: string) => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(json.length));
      return Buffer.concat([length, Buffer.from(json), data]);
    };
    await writeTree(source, new Map([["m.safetensors", withHeader('{"a":1}')]]));
    const store = await open();
    const first = await ship(transfer, store, "1-1");
    const reusable = new Map(first.sent.chunks.map((chunk) => [chunk.hash, { ...chunk, from: 2 }]));
    await writeFile(join(source, "m.safetensors"), withHeader('{"a":1,"longer":"header"}'));
    const second = await ship(transfer, store, "1-2", reusable);
    expect(second.sent.sentBytes).toBe(8 + '{"a":1,"longer":"header"}'.length);
    expect(second.sent.chunks.filter((chunk) => chunk.from === 2)).toHaveLength(3);
  });

  it("sends bytes that are given outright", async () => {
    const store = await open();
    const bytes = Buffer.from("global_step7");
    const file = { path: "latest", source: "/nowhere", size: bytes.length, mode: 0o644, mtimeMs: 1e12, bytes };
    const sent = await transfer.send({
      store,
      prefix,
      hash: "blake3",
      owner: "1-1",
      files: [file],
      reusable: noChunks,
    });
    const into = join(folder, "restored");
    await transfer.fetch({ store, prefix, manifest: manifestOf(sent), into });
    expect((await readTree(into)).get("latest")).toMatchObject({ bytes: "global_step7" });
  });

  itOften("finds any flipped bit, truncation, growth, swap and loss, before it is mistaken for data", async () => {
    await writeTree(
      source,
      new Map([
        ["big", noise(20 * MiB, 8)],
        ["one", noise(100, 9)],
        ["two", noise(200, 10)],
      ]),
    );
    const store = await open();
    const { manifest, sent } = await ship(transfer, store);
    const [a, b, last] = [sent.chunks[0], sent.chunks[1], sent.chunks[sent.chunks.length - 1]] as ManifestChunk[];
    if (!a || !b || !last) throw new Error("too few chunks");
    const flip = (at: number) => (bytes: Uint8Array) => {
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      return bytes;
    };
    const original = new Map(
      await Promise.all([a, b, last].map(async (c) => [c, await store.get(prefix + c.key)] as const)),
    );
    const damages: [string, () => Promise<unknown>, { key: string; fault: string }[]][] = [
      ["first bit", () => overwrite(store, a, flip(0)), [{ key: a.key, fault: "wrong content" }]],
      ["last bit", () => overwrite(store, b, flip(8 * MiB - 1)), [{ key: b.key, fault: "wrong content" }]],
      ["a pack's bit", () => overwrite(store, last, flip(7)), [{ key: last.key, fault: "wrong content" }]],
      [
        "cut short",
        () => overwrite(store, a, (bytes) => bytes.subarray(0, 8 * MiB - 1)),
        [{ key: a.key, fault: "wrong size" }],
      ],
      ["emptied", () => overwrite(store, last, () => new Uint8Array()), [{ key: last.key, fault: "wrong size" }]],
      [
        "grown",
        () => overwrite(store, a, (bytes) => Buffer.concat([bytes, Buffer.from([0])])),
        [{ key: a.key, fault: "wrong size" }],
      ],
      ["lost", () => store.delete(prefix + b.key), [{ key: b.key, fault: "missing" }]],
      [
        "swapped",
        async () => {
          await store.put(prefix + a.key, original.get(b) as Uint8Array);
          await store.put(prefix + b.key, original.get(a) as Uint8Array);
        },
        [a, b].map((chunk) => ({ key: chunk.key, fault: "wrong content" })),
      ],
    ];
    let round = 0;
    for (const [name, damage, faults] of damages) {
      await damage();
      expect({ name, faults: await transfer.verify({ store, prefix, manifest }) }).toEqual({ name, faults });
      round += 1;
      const into = join(folder, `damaged-${round}`);
      await expect(transfer.fetch({ store, prefix, manifest, into })).rejects.toMatchObject({
        code: "OUTLAST_CHECKPOINT_DAMAGED",
        recovery: "reset",
      });
      for (const [chunk, bytes] of original) await store.put(prefix + chunk.key, bytes);
    }
    expect(await transfer.verify({ store, prefix, manifest })).toEqual([]);
  });

  it("finds pieces that are not the file's own although every chunk is right", async () => {
    await writeTree(
      source,
      new Map([
        ["one", noise(100, 9)],
        ["two", noise(100, 10)],
      ]),
    );
    const store = await open();
    const { manifest } = await ship(transfer, store);
    const [one, two] = manifest.entries;
    if (one?.type !== "file" || two?.type !== "file") throw new Error("not files");
    const mixed = { ...manifest, entries: [{ ...one, pieces: two.pieces }, two] };
    const work = transfer.fetch({ store, prefix, manifest: mixed, into: join(folder, "restored") });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_CHECKPOINT_DAMAGED", target: "one" });
  });

  itOften("takes chunks from local files that hold them and fetches the rest", async () => {
    const bytes = noise(24 * MiB, 11);
    await writeTree(
      source,
      new Map([
        ["m", bytes],
        ["s1", noise(10, 1)],
        ["s2", noise(10, 2)],
      ]),
    );
    const store = await open();
    const { manifest } = await ship(transfer, store);
    const before = join(folder, "before");
    await mkdir(before);
    const other = Uint8Array.from(bytes);
    other[20 * MiB] = (other[20 * MiB] ?? 0) ^ 1;
    await writeTree(
      before,
      new Map([
        ["m", other],
        ["s1", noise(10, 1)],
        ["s2", noise(10, 2)],
      ]),
    );
    const local = new Map(["m", "s1", "s2", "gone"].map((path) => [path, join(before, path)]));
    const into = join(folder, "restored");
    const result = await transfer.fetch({ store, prefix, manifest, into, local });
    expect(result).toEqual({ bytes: 24 * MiB + 20, fetchedBytes: 8 * MiB });
    expect(await readTree(into)).toEqual(await readTree(source));
    await writeFile(join(into, "m"), "changed in place");
    expect((await readTree(before)).get("m")).toMatchObject({ bytes: Buffer.from(other).toString("latin1") });
  });

  itOften("tells which local files hold exactly what a manifest records", async () => {
    const files: Tree = new Map([
      ["big", noise(18 * MiB, 1)],
      ["wrong", noise(9 * MiB, 2)],
      ["small", noise(10, 3)],
      ["shorter", noise(10, 4)],
      ["empty", new Uint8Array()],
      ["gone", noise(10, 5)],
      ["not-asked", noise(10, 6)],
    ]);
    await writeTree(source, files);
    const { manifest } = await ship(transfer, await open());
    const wrong = noise(9 * MiB, 2);
    wrong[9 * MiB - 1] = (wrong[9 * MiB - 1] ?? 0) ^ 1;
    await writeFile(join(source, "wrong"), wrong);
    await writeFile(join(source, "shorter"), noise(9, 4));
    await rm(join(source, "gone"));
    const names = ["big", "wrong", "small", "shorter", "empty", "gone"];
    const local = new Map(names.map((path) => [path, join(source, path)]));
    expect(await transfer.matches({ manifest, local })).toEqual(new Set(["big", "small", "empty"]));
  });

  it("leaves out what it is told to skip", async () => {
    await writeTree(
      source,
      new Map([
        ["keep", noise(10, 1)],
        ["skip", noise(10, 2)],
      ]),
    );
    const store = await open();
    const { manifest } = await ship(transfer, store);
    const into = join(folder, "restored");
    await transfer.fetch({ store, prefix, manifest, into, skip: new Set(["skip"]) });
    expect([...(await readTree(into)).keys()]).toEqual(["keep"]);
  });

  it("reports progress up to the whole", async () => {
    await writeTree(source, new Map([["a", noise(20 * MiB, 1)]]));
    const store = await open();
    const { files } = await describeTree(source);
    const seen: number[] = [];
    const sent = await transfer.send({
      store,
      prefix,
      hash: "blake3",
      owner: "1-1",
      files,
      reusable: noChunks,
      onProgress: ({ bytes, totalBytes }) => seen.push(bytes / totalBytes),
    });
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual([...seen].sort((x, y) => x - y));
    const fetched: number[] = [];
    await transfer.fetch({
      store,
      prefix,
      manifest: manifestOf(sent),
      into: join(folder, "restored"),
      onProgress: ({ bytes, totalBytes }) => fetched.push(bytes / totalBytes),
    });
    expect(fetched.at(-1)).toBe(1);
  });

  it("stops when told to, and serves the next request", async () => {
    await writeTree(source, new Map([["a", noise(64 * MiB, 1)]]));
    const store = await open();
    const { files } = await describeTree(source);
    const controller = new AbortController();
    const reason = new Error("out of time");
    const request = { store, prefix, hash: "blake3" as const, owner: "1-1", files, reusable: noChunks };
    const work = transfer.send({ ...request, signal: controller.signal, onProgress: () => controller.abort(reason) });
    await expect(work).rejects.toBe(reason);
    const sent = await transfer.send({ ...request, owner: "1-2" });
    const into = join(folder, "restored");
    const stop = new AbortController();
    const manifest = manifestOf(sent);
    const fetching = transfer.fetch({
      store,
      prefix,
      manifest,
      into,
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    });
    await expect(fetching).rejects.toBe(reason);
    await rm(into, { recursive: true });
    await transfer.fetch({ store, prefix, manifest, into });
    expect(await readTree(into)).toEqual(await readTree(source));
    await expect(transfer.verify({ store, prefix, manifest, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("refuses to write over what is there", async () => {
    await writeTree(
      source,
      new Map([
        ["x", noise(10, 1)],
        ["y", noise(9 * MiB, 1)],
      ]),
    );
    const store = await open();
    const { manifest } = await ship(transfer, store);
    const into = join(folder, "restored");
    await mkdir(into);
    await writeFile(join(into, "x"), "mine");
    await expect(transfer.fetch({ store, prefix, manifest, into })).rejects.toMatchObject({
      code: "OUTLAST_FILE_FAILED",
    });
  });
});

test("gives the same manifest from all engines", async () => {
  await writeTree(
    source,
    new Map([
      ["big", noise(21 * MiB, 1)],
      ["s/1", noise(10, 2)],
      ["s/2", noise(999, 3)],
      ["zero", new Uint8Array()],
    ]),
  );
  const there = engines.filter(({ isThere }) => isThere);
  const all = await Promise.all(there.map(async ({ transfer, open }) => (await ship(transfer, await open())).manifest));
  for (const manifest of all) expect(manifest).toEqual(all[0]);
});

function isNameable(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff && !(code >= 0xdc80 && code <= 0xdcff)) return false;
  }
  return Buffer.byteLength(text) < 200 && !/[\udc80-\udcff]{2}/.test(text);
}
