import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openQueueParts, type PublishOptions, publish, type QueueParts } from "../../src/queue/index.ts";
import type { Item } from "../../src/results/index.ts";

let dir: string;
let parts: QueueParts;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-publish-"));
  parts = await openQueueParts(`sqlite:${join(dir, "jobs.db")}`);
  await parts.ledger.prepare();
});
afterEach(async () => {
  await parts.ledger.close();
  await parts.broker?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Publishes a file of that text. */
async function publishText(name: string, text: string | Uint8Array, options: Partial<PublishOptions> = {}) {
  await writeFile(join(dir, name), text);
  return publish({ ...parts, from: [name], cwd: dir, ...options });
}

async function published(): Promise<readonly Item[]> {
  return parts.ledger.lease(1000, 60_000, "reader");
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("sources", () => {
  test("CSV: strings, with quotes and line breaks inside them", async () => {
    const result = await publishText("a.csv", '\uFEFFpath,size\n1.jpg,007\n"2, or ""two"".jpg","a\nb"\n', {
      id: "path",
    });
    expect(result).toMatchObject({ read: 2, added: 2, known: 0, bad: 0, isComplete: true });
    expect(await published()).toMatchObject([
      { id: "1.jpg", data: { path: "1.jpg", size: "007" } },
      { id: '2, or "two".jpg', data: { size: "a\nb" } },
    ]);
  });

  test("TSV, JSON lines and their gzipped forms", async () => {
    await publishText("a.tsv", "id\tx\nt1\t1\n", { id: "id" });
    await publishText("b.jsonl", '{"id":"j1","x":[1,null]}\n\n{"id":2}\n', { id: "id" });
    await publishText("c.jsonl.gz", gzipSync('{"id":"z1"}\n'), { id: "id" });
    await publishText("d.csv.gz", gzipSync("id\nz2\n"), { id: "id" });
    expect((await published()).map(({ id }) => id)).toEqual(["t1", "j1", "2", "z1", "z2"]);
  });

  test("files by pattern, in a stable order; a pattern of tables is read", async () => {
    await mkdir(join(dir, "img/deep"), { recursive: true });
    for (const name of ["img/b.jpg", "img/a.jpg", "img/deep/c.jpg", "img/d.txt"])
      await writeFile(join(dir, name), name);
    await publish({ ...parts, from: ["img/**/*.jpg"], cwd: dir, id: "path" });
    expect(await published()).toMatchObject([
      { id: "img/a.jpg", data: { path: "img/a.jpg", size: 9 } },
      { id: "img/b.jpg" },
      { id: "img/deep/c.jpg" },
    ]);
    await writeFile(join(dir, "p1.jsonl"), '{"n":1}\n');
    await writeFile(join(dir, "p2.jsonl"), '{"n":2}\n{"n":3}\n');
    expect(await publish({ ...parts, from: ["p*.jsonl"], cwd: dir })).toMatchObject({ added: 3 });
    expect(await publish({ ...parts, from: ["p*.jsonl"], cwd: dir, format: "files" })).toMatchObject({ added: 2 });
  });

  test("standard input, and data from a program", async () => {
    await publish({ ...parts, from: ["-"], stdin: Readable.from([Buffer.from('{"id":"s1"}')]), id: "id" });
    await publish({ ...parts, from: ["-"], stdin: Readable.from([Buffer.from("id\ns2\n")]), id: "id", format: "csv" });
    await publish({ ...parts, from: [{ id: "p1" }, { id: "p2" }], id: "id", name: "mine" });
    expect((await published()).map(({ id }) => id)).toEqual(["s1", "s2", "p1", "p2"]);
  });

  test("lines that arrive in pieces are put together, and one of any length costs bounded memory", async () => {
    const text = Buffer.from('{"id":"ä1"}\n{"id":"b2"}');
    const pieces = Array.from({ length: text.length }, (_, i) => text.subarray(i, i + 1));
    await publish({ ...parts, from: ["-"], stdin: Readable.from(pieces), id: "id" });
    expect((await published()).map(({ id }) => id)).toEqual(["ä1", "b2"]);
    const long = Readable.from(
      (function* () {
        for (let i = 0; i < 40; i += 1) yield Buffer.alloc(1024 * 1024, 120);
        yield Buffer.from('\n{"id":"after"}\n');
      })(),
    );
    const result = await publish({ ...parts, from: ["-"], stdin: long, id: "id", skipBad: true });
    expect(result).toMatchObject({ bad: 1, added: 1 });
  });
});

describe("ids", () => {
  test("without --id the hash of the data, however its keys are ordered, and of the version", async () => {
    const first = await publishText("a.jsonl", '{"a":1,"b":{"c":2,"d":[3]}}\n');
    expect(first.first[0]?.id).toBe(sha256(`{"a":1,"b":{"c":2,"d":[3]}}`));
    const again = await publishText("b.jsonl", '{ "b": {"d":[3], "c":2}, "a": 1.0 }\n');
    expect(again).toMatchObject({ added: 0, known: 1 });
    expect(again.first[0]?.id).toBe(first.first[0]?.id);
    expect(await publishText("a.jsonl", '{"a":1,"b":{"c":2,"d":[3]}}\n', { version: "v2" })).toMatchObject({
      added: 1,
      first: [{ id: sha256(`{"a":1,"b":{"c":2,"d":[3]}}\nv2`) }],
    });
  });

  test("with --id the column alone: another version is no new work", async () => {
    expect(await publishText("a.csv", "id\nx\n", { id: "id", version: "1" })).toMatchObject({ added: 1 });
    expect(await publishText("a.csv", "id\nx\n", { id: "id", version: "2" })).toMatchObject({ added: 0, known: 1 });
  });

  test("that come twice are counted; with other data a word is said, once", async () => {
    const warnings: string[] = [];
    const result = await publishText("a.csv", "id,x\na,1\nb,2\na,1\na,9\nb,8\n", {
      id: "id",
      onWarning: (message) => warnings.push(message),
    });
    expect(result).toMatchObject({ read: 5, added: 2, duplicates: 3 });
    expect(warnings).toEqual(['a.csv, line 5: id "a" came before with other data; the first stands']);
    expect(await published()).toMatchObject([{ id: "a", data: { x: "1" } }, { id: "b" }]);
  });

  test.each([
    ["a.csv", "path,x\n1,2\n", 'a.csv, line 2: there is no "id" for --id; there is path, x'],
    ["a.csv", 'id,x\n1,2\n"",3\n', "a.csv, line 3: the id is empty"],
    ["a.jsonl", `{"id":"${"x".repeat(600)}"}`, "a.jsonl, line 1: the id is longer than 512 bytes"],
    ["a.jsonl", '{"id":"a"}\n{"id":{}}\n', "a.jsonl, line 2: the id is object, not text or a number"],
    ["a.jsonl", '{"id":"a\\u0000"}\n', "a.jsonl, line 1: the id holds characters that cannot be stored"],
  ])("that cannot be one are refused with their line: %s", async (name, text, message) => {
    await expect(publishText(name, text, { id: "id" })).rejects.toMatchObject({
      code: "OUTLAST_SOURCE_INVALID",
      message: expect.stringContaining(message) as string,
    });
  });
});

describe("bad lines", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["a.jsonl", '{"a":1}\n{"a":\n{"a":3}\n', "a.jsonl, line 2: it is not JSON"],
    ["a.jsonl", '{"a":1}\n[1]\n{"a":3}\n', "a.jsonl, line 2: it is not a JSON object: [1]"],
    [
      "a.jsonl",
      '{"a":1}\n{"a":12345678901234567890}\n{"a":3}\n',
      "a.jsonl, line 2: the number 12345678901234567890 cannot be kept",
    ],
    ["a.csv", "a,b\n1,2\n1,2,3\n3,4\n", "a.csv, line 3: it has 3 fields, the header has 2"],
    ["a.csv", 'a,b\n1,2\n1"2",3\n3,4\n', "a.csv, line 3: "],
  ];

  test.each(cases)("stop publishing, with the line: %s %j", async (name, text, message) => {
    await expect(publishText(name, text)).rejects.toMatchObject({
      code: "OUTLAST_SOURCE_INVALID",
      exitCode: 1,
      message: expect.stringContaining(message) as string,
    });
    // The publication stays open: nobody takes half a dataset for the whole.
    expect((await parts.ledger.depth()).openPublications).toBe(1);
  });

  test.each(cases)("are skipped and counted with --skip-bad: %s %j", async (name, text, message) => {
    const warnings: string[] = [];
    const result = await publishText(name, text, { skipBad: true, onWarning: (one) => warnings.push(one) });
    expect(result).toMatchObject({ bad: 1, added: 2, isComplete: true });
    expect(warnings[0]).toContain(message);
    expect((await parts.ledger.depth()).openPublications).toBe(0);
  });

  test("a quote that is never closed ends with an error", async () => {
    await expect(publishText("a.csv", 'a,b\n1,2\n"3,4\n5,6\n')).rejects.toMatchObject({
      code: "OUTLAST_SOURCE_INVALID",
    });
  });

  test.each([
    ["a,a\n1,2\n", 'two columns are called "a"'],
    ["a,,c\n1,2,3\n", "column 2 has no name"],
  ])("a header that names columns badly is refused: %j", async (text, message) => {
    await expect(publishText("a.csv", text, { skipBad: true })).rejects.toThrow(message);
  });

  test("a column that is not there at all is refused even with --skip-bad", async () => {
    await expect(publishText("a.csv", "a\n1\n2\n", { id: "b", skipBad: true })).rejects.toThrow('no "b" for --id');
  });

  test.each([
    ["nothing.csv", "there is no such file"],
    ["*.nope", "no file matches it"],
    [".", "it is a directory"],
  ])("a source that is not there: %s", async (from, message) => {
    await expect(publish({ ...parts, from: [from], cwd: dir })).rejects.toMatchObject({
      code: "OUTLAST_USAGE",
      message: expect.stringContaining(message) as string,
    });
  });

  test("a table in a bucket is refused, with what to do instead", async () => {
    await expect(publish({ ...parts, from: ["gs://b/a.csv"], cwd: dir })).rejects.toMatchObject({
      hint: expect.stringContaining("pipe it") as string,
    });
  });
});

describe("publishing", () => {
  test("twice adds nothing and closes what was open", async () => {
    const text = "id\na\nb\nc\n";
    await expect(publishText("a.csv", 'id\na\n"b', { id: "id" })).rejects.toThrow("a.csv");
    expect((await parts.ledger.depth()).openPublications).toBe(1);
    expect(await publishText("a.csv", text, { id: "id" })).toMatchObject({ added: 3 });
    expect(await publishText("a.csv", text, { id: "id" })).toMatchObject({ added: 0, known: 3 });
    expect(await parts.ledger.depth()).toMatchObject({ ready: 3, total: 3, openPublications: 0 });
  });

  test("a dry run reads everything and changes nothing", async () => {
    const result = await publishText("a.csv", "id\na\nb\na\n", { id: "id", dryRun: true });
    expect(result).toMatchObject({ read: 3, added: 0, duplicates: 1, first: [{ id: "a" }, { id: "b" }] });
    expect(await parts.ledger.depth()).toMatchObject({ total: 0, openPublications: 0 });
  });

  test("stopped in the middle says so and leaves the publication open; the next run finishes it", async () => {
    const stop = new AbortController();
    const rows = Array.from({ length: 5000 }, (_, i) => `row-${i}`).join("\n");
    const stopped = await publishText("a.csv", `id\n${rows}\n`, {
      id: "id",
      batch: 1000,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(stopped.isComplete).toBe(false);
    expect(stopped.added).toBeLessThan(5000);
    expect((await parts.ledger.depth()).openPublications).toBe(1);
    const again = await publishText("a.csv", `id\n${rows}\n`, { id: "id" });
    expect(again.added + stopped.added).toBe(5000);
    expect((await parts.ledger.depth()).openPublications).toBe(0);
  });
});
