import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crc32cText } from "../../../src/storage/crc32c.ts";
import { type GcsServer, hasFakeGcsServer, startFakeGcsServer } from "../gcs.ts";
import { type FakeGcs, startFakeGcs } from "./index.ts";
import { Wire } from "./wire.ts";

type Probe = (wire: Wire) => Promise<unknown>;

const json = async (response: Response) => (await response.json()) as Record<string, unknown>;
const media = async (response: Response) => ({
  status: response.status,
  text: response.status < 300 ? await response.text() : undefined,
  length: response.status < 300 ? response.headers.get("content-length") : undefined,
  range: response.headers.get("content-range"),
  crc32c: /crc32c=([^,]*)/.exec(response.headers.get("x-goog-hash") ?? "")?.[1],
});
const reasonOf = async (response: Response) => {
  const { error } = (await json(response)) as { error?: { code: number; errors: { reason: string }[] } };
  return { status: response.status, code: error?.code, reason: error?.errors[0]?.reason };
};
const names = (page: { items?: { name: string }[]; prefixes?: string[] }) => ({
  items: page.items?.map((item) => item.name) ?? [],
  prefixes: page.prefixes ?? [],
});

/** What fake-gcs-server is known to get right: both must answer alike. */
const probes: Record<string, Probe> = {
  "an insert's answer names the object, its size and checksum": async (wire) => {
    const { name, size, crc32c, bucket } = await json(await wire.insert("a/b.c", "hello"));
    return { name, size, crc32c, isBucket: bucket === wire.bucket };
  },
  "media gives the bytes with length and checksum": async (wire) => {
    await wire.insert("m", "hello");
    return media(await wire.object("m", "?alt=media"));
  },
  "an empty object": async (wire) => {
    await wire.insert("m", "");
    return media(await wire.object("m", "?alt=media"));
  },
  "a range": async (wire) => {
    await wire.insert("m", "0123456789");
    return media(await wire.object("m", "?alt=media", { headers: { range: "bytes=2-4" } }));
  },
  "a range past the end is cut": async (wire) => {
    await wire.insert("m", "0123456789");
    return media(await wire.object("m", "?alt=media", { headers: { range: "bytes=7-99" } }));
  },
  "a range that begins past the end": async (wire) => {
    await wire.insert("m", "0123456789");
    const { status, range } = await media(await wire.object("m", "?alt=media", { headers: { range: "bytes=10-12" } }));
    return { status, range };
  },
  "an open range": async (wire) => {
    await wire.insert("m", "0123456789");
    return media(await wire.object("m", "?alt=media", { headers: { range: "bytes=7-" } }));
  },
  "metadata of an object": async (wire) => {
    await wire.insert("a/m", "hello");
    const { name, size, crc32c, kind } = await json(await wire.object("a/m"));
    return { name, size, crc32c, kind };
  },
  "no object": async (wire) => reasonOf(await wire.object("none")),
  "no object's media": async (wire) => (await wire.object("none", "?alt=media")).status,
  "deleting no object": async (wire) => reasonOf(await wire.object("none", "", { method: "DELETE" })),
  "a deleted object is gone": async (wire) => {
    await wire.insert("m", "x");
    const first = await wire.object("m", "", { method: "DELETE" });
    return { isFine: first.ok, then: (await wire.object("m")).status, left: names(await wire.list("")) };
  },
  "no bucket, listed": async (wire) => reasonOf(await wire.ask("/storage/v1/b/no-such-bucket/o")),
  "no bucket, described": async (wire) => reasonOf(await wire.ask("/storage/v1/b/no-such-bucket")),
  "no bucket, inserted into": async (wire) => reasonOf(await wire.in("no-such-bucket").insert("x", "x")),
  "create only if absent": async (wire) => {
    const first = await wire.insert("c", "one", "&ifGenerationMatch=0");
    const second = await wire.insert("c", "two", "&ifGenerationMatch=0");
    return {
      first: first.status,
      second: await reasonOf(second),
      now: await media(await wire.object("c", "?alt=media")),
    };
  },
  "replace only the generation that is there": async (wire) => {
    const { generation } = await json(await wire.insert("c", "one"));
    const right = await wire.insert("c", "two", `&ifGenerationMatch=${String(generation)}`);
    const wrong = await wire.insert("c", "three", `&ifGenerationMatch=${String(generation)}`);
    return { right: right.status, wrong: wrong.status, now: (await media(await wire.object("c", "?alt=media"))).text };
  },
  "create again after a delete": async (wire) => {
    await wire.insert("c", "one");
    await wire.object("c", "", { method: "DELETE" });
    return (await wire.insert("c", "two", "&ifGenerationMatch=0")).status;
  },
  "generations grow": async (wire) => {
    const first = BigInt(String((await json(await wire.insert("g", "1")))["generation"]));
    const second = BigInt(String((await json(await wire.insert("g", "2")))["generation"]));
    return second > first;
  },
  "one of 16 racing creators wins": async (wire) => {
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => (await wire.insert("r", `${i}`, "&ifGenerationMatch=0")).status),
    );
    return statuses.sort((a, b) => a - b);
  },
  "a right checksum is taken": async (wire) =>
    (await wire.insert("k", "hello", "", { crc32c: crc32cText(Buffer.from("hello")) })).status,
  "a wrong checksum is refused and leaves nothing": async (wire) => {
    const answer = await wire.insert("k", "hello", "", { crc32c: crc32cText(Buffer.from("other")) });
    return { answer: await reasonOf(answer), then: (await wire.object("k")).status };
  },
  "a listing in the order of names": async (wire) => {
    for (const name of ["b/a", "a", "b-c", "b0", "B", "b.c", "b_"]) await wire.insert(name, "x");
    return names(await wire.list(""));
  },
  "a listing by prefix": async (wire) => {
    for (const name of ["log/1", "log/2", "logs", "lo"]) await wire.insert(name, "x");
    return [names(await wire.list("prefix=log%2F")), names(await wire.list("prefix=none"))];
  },
  "a listing with a delimiter": async (wire) => {
    for (const name of ["p/a/1", "p/a/2", "p/b", "p/c/1", "p/c-d/1"]) await wire.insert(name, "x");
    return [names(await wire.list("prefix=p%2F&delimiter=%2F")), names(await wire.list("prefix=p&delimiter=%2F"))];
  },
  "pages that together are everything, once": async (wire) => {
    for (let i = 0; i < 7; i += 1) await wire.insert(`n${i}`, "x");
    const pages: string[][] = [];
    for (let token = ""; pages.length < 9; ) {
      const page = await wire.list(`maxResults=3${token && `&pageToken=${encodeURIComponent(token)}`}`);
      pages.push(names(page).items);
      if (!page.nextPageToken) break;
      token = page.nextPageToken;
    }
    return pages;
  },
  "a last page that is just full has no token": async (wire) => {
    for (let i = 0; i < 3; i += 1) await wire.insert(`n${i}`, "x");
    return (await wire.list("maxResults=3")).nextPageToken ?? "none";
  },
  "the bucket's description": async (wire) => {
    const { name, kind, location } = await json(await wire.ask("/storage/v1/b/BUCKET"));
    return { isName: name === wire.bucket, kind, hasLocation: typeof location === "string" };
  },
};

describe.skipIf(!hasFakeGcsServer())("our fake beside fake-gcs-server", () => {
  let theirs: GcsServer;
  let ours: FakeGcs;
  beforeAll(async () => {
    theirs = await startFakeGcsServer();
    ours = await startFakeGcs();
  });
  afterAll(async () => {
    await theirs.stop();
    await ours.stop();
  });

  it.each(Object.entries(probes))("%s", async (name, probe) => {
    const bucket = `probe-${Object.keys(probes).indexOf(name)}`;
    const answers: unknown[] = [];
    for (const server of [theirs, ours]) {
      await server.createBucket(bucket);
      answers.push(await probe(new Wire(server.url, bucket)));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[1]).toBeDefined();
  });
});
