import { afterEach, describe, expect, it } from "vitest";
import { isOutlastError } from "../../core/index.ts";
import { type FakeGcs, startFakeGcs } from "../../../test/servers/fake-gcs/index.ts";
import { answering, type Script, type ScriptedServer, startScripted } from "../../../test/servers/fake-gcs/scripted.ts";
import { parseBucketUrl } from "../bucket-url.ts";
import { crc32cText } from "../crc32c.ts";
import type { BucketStore } from "../object-store.ts";
import { openStore } from "../open-store.ts";
import { withRetry } from "../with-retry.ts";
import { type GcsStoreOptions, openBucketStore } from "./open-gcs-store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function open(server: { readonly url: string }, options: Partial<GcsStoreOptions> = {}): BucketStore {
  return openBucketStore(parseBucketUrl(`gs://bkt/pre/fix?endpoint=${server.url}`), { access: "write", ...options });
}

async function scripted(script: Script, isEarly?: boolean): Promise<ScriptedServer> {
  const server = await startScripted(script, isEarly);
  stops.push(() => server.stop());
  return server;
}

async function fake(): Promise<FakeGcs> {
  const server = await startFakeGcs();
  stops.push(() => server.stop());
  await server.createBucket("bkt");
  return server;
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

const bytes = Buffer.from("hello");
const crc = { "x-goog-hash": `crc32c=${crc32cText(bytes)},md5=XUFAKrxLKna5cZ2REBfFkg==` };
const reason = new Error("deadline");

describe("writing", () => {
  it("sends one multipart insert with the checksum in its metadata, and its exact length", async () => {
    const stored = { name: "pre/fix/a/b", crc32c: crc32cText(bytes) };
    const server = await scripted(answering(200, stored));
    await open(server).put("a/b", bytes);
    expect(await open(server).putIfAbsent("a/b", bytes)).toBe("created");
    const [put, create] = server.seen;
    expect(put?.method).toBe("POST");
    expect(put?.path).toBe("/upload/storage/v1/b/bkt/o?uploadType=multipart&fields=name,crc32c");
    expect(create?.path).toBe("/upload/storage/v1/b/bkt/o?uploadType=multipart&fields=name,crc32c&ifGenerationMatch=0");
    expect(put?.headers["content-length"]).toBe(`${put?.body.length}`);
    expect(put?.headers["transfer-encoding"]).toBeUndefined();
    const metadata = /\r\n\r\n(\{.*\})\r\n/.exec(put?.body.toString() ?? "")?.[1] ?? "{}";
    expect(JSON.parse(metadata)).toMatchObject({ ...stored, cacheControl: "no-store" });
  });

  it.each([
    ["another name", { name: "pre/fix/other", crc32c: crc32cText(bytes) }],
    ["another checksum", { name: "pre/fix/a", crc32c: "AAAAAA==" }],
    ["nothing", {}],
  ])("does not believe an answer about %s", async (_, answer) => {
    const server = await scripted(answering(200, answer));
    const store = open(server);
    for (const act of [() => store.put("a", bytes), () => store.putIfAbsent("a", bytes)]) {
      await expect(act()).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
    }
  });

  it("is refused when the bytes change on their way", async () => {
    const server = await fake();
    const body = Buffer.alloc(1 << 20, 1);
    // The checksum is taken at the call, the bytes are sent a moment later.
    const work = open(server).put("a", body);
    body[77] = 2;
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
    expect(server.bucket("bkt").names()).toEqual([]);
  });

  it("takes bytes in shared memory, and a view into a larger buffer", async () => {
    const server = await fake();
    const shared = new Uint8Array(new SharedArrayBuffer(100), 10, 50).fill(7);
    await open(server).put("shared", shared);
    expect(Buffer.compare(await open(server).get("shared"), Buffer.alloc(50, 7))).toBe(0);
    const into = new Uint8Array(new SharedArrayBuffer(100));
    expect(Buffer.compare(await open(server).get("shared", { into }), Buffer.alloc(50, 7))).toBe(0);
  });

  it("sends no more of the caller's buffer after an error that came before the body was sent", async () => {
    const body = Buffer.alloc(64 << 20);
    const received = Promise.withResolvers<number>();
    const server = await scripted((request, response) => {
      const { socket } = response;
      socket?.once("close", () => received.resolve(socket.bytesRead));
      answering(503, "no")(request, response);
    }, true);
    await expect(open(server).put("a", body)).rejects.toMatchObject({ recovery: "retry" });
    expect(await received.promise).toBeLessThan(body.length);
  });

  it("holds the caller's buffer until its last byte is sent, however early the answer is", async () => {
    const body = Buffer.alloc(64 << 20, 1);
    const received = Promise.withResolvers<boolean>();
    const server = await scripted((request, response) => {
      let isUnharmed = true;
      response.req.on("data", (part: Buffer) => {
        isUnharmed &&= !part.includes(9);
      });
      response.req.on("end", () => received.resolve(isUnharmed));
      answering(200, { name: "pre/fix/a", crc32c: crc32cText(body) })(request, response);
    }, true);
    await open(server).put("a", body);
    body.fill(9);
    expect(await received.promise).toBe(true);
  });

  it("keeps to one write a second of a name, where it is retried", async () => {
    let nowMs = 0;
    const server = await startFakeGcs({ onePerSecond: true, now: () => nowMs });
    stops.push(() => server.stop());
    await server.createBucket("bkt");
    const sleeps: number[] = [];
    const sleep = (ms: number) => {
      sleeps.push(ms);
      nowMs += ms;
      return Promise.resolve();
    };
    const store = withRetry(open(server), { clock: { now: () => nowMs, monotonic: () => nowMs, sleep } });
    for (const text of ["one", "two", "three"]) await store.put("latest.json", Buffer.from(text));
    expect(sleeps).toEqual([1000, 1000]);
    expect(Buffer.from(await store.get("latest.json")).toString()).toBe("three");
  });

  it("refuses to write when opened for reading", async () => {
    const store = open(await fake(), { access: "read" });
    for (const act of [() => store.put("a", bytes), () => store.putIfAbsent("a", bytes), () => store.delete("a")]) {
      await expect(act()).rejects.toMatchObject({ code: "OUTLAST_STORE_NOT_WRITABLE" });
    }
    await expect(store.get("a")).rejects.toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND" });
  });
});

describe("reading", () => {
  it("takes what matches its checksum", async () => {
    const server = await scripted(answering(200, "hello", crc));
    expect(Buffer.from(await open(server).get("a")).toString()).toBe("hello");
    expect(server.seen[0]?.path).toBe("/storage/v1/b/bkt/o/pre%2Ffix%2Fa?alt=media");
  });

  it("refuses bytes that do not match the stored checksum, also in a range over the whole object", async () => {
    const server = await fake();
    await open(server).put("a", bytes);
    const object = server.bucket("bkt").objects.get("pre/fix/a");
    if (object) object.bytes = Buffer.from("hullo");
    const refusal = { code: "OUTLAST_STORE_FAILED", recovery: "retry" };
    await expect(open(server).get("a")).rejects.toMatchObject(refusal);
    await expect(open(server).get("a", { range: { offset: 0, length: 5 } })).rejects.toMatchObject(refusal);
    expect((await open(server).get("a", { range: { offset: 0, length: 4 } })).length).toBe(4);
  });

  it("does not compare a checksum with bytes that were unpacked on their way", async () => {
    const unpacked = { ...crc, "x-goog-stored-content-encoding": "gzip" };
    const server = await scripted(answering(200, "hello, unpacked", unpacked));
    expect(Buffer.from(await open(server).get("a")).toString()).toBe("hello, unpacked");
  });

  it.each([true, false])("never gives a short result (length announced: %s)", async (isAnnounced) => {
    const server = await scripted((_, response) => {
      response.writeHead(200, isAnnounced ? { "content-length": 10 } : {});
      response.write("hello", () => response.destroy());
    });
    const into = new Uint8Array(100);
    for (const options of [{}, { into }]) {
      await expect(open(server).get("a", options)).rejects.toMatchObject({
        code: "OUTLAST_STORE_UNREACHABLE",
        recovery: "retry",
      });
    }
  });

  it("refuses another part of the object than the one asked for", async () => {
    const shifted = { "content-range": "bytes 1-5/9" };
    const server = await scripted(answering(206, "hello", shifted));
    const range = { offset: 0, length: 5 };
    await expect(open(server).get("a", { range })).rejects.toMatchObject({ code: "OUTLAST_STORE_FAILED" });
    const whole = await scripted(answering(200, "hello, world"));
    await expect(open(whole).get("a", { range })).rejects.toMatchObject({ code: "OUTLAST_STORE_FAILED" });
  });

  it("finds a missing object missing also when no byte of it is asked for", async () => {
    const store = open(await fake());
    const missing = store.get("a", { range: { offset: 3, length: 0 } });
    await expect(missing).rejects.toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND" });
    const server = await scripted(answering(206, "h", { "content-range": "bytes 3-3/9" }));
    expect(await open(server).get("a", { range: { offset: 3, length: 0 } })).toHaveLength(0);
    expect(server.seen[0]?.headers.range).toBe("bytes=3-3");
  });
});

describe("stopping", () => {
  const stalls: Script = (_, response) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write("hello");
  };

  it.each<[string, (store: BucketStore, signal: AbortSignal) => Promise<unknown>]>([
    ["get", (store, signal) => store.get("a", { signal })],
    ["put", (store, signal) => store.put("a", Buffer.alloc(32 << 20), { signal })],
    ["putIfAbsent", (store, signal) => store.putIfAbsent("a", bytes, { signal })],
    ["delete", (store, signal) => store.delete("a", { signal })],
    ["list", (store, signal) => all(store.list("", { signal }))],
    ["folders", (store, signal) => all(store.folders("", { signal }))],
    ["location", (store, signal) => store.location({ signal })],
    ["check", (store, signal) => store.check({ signal })],
  ])("ends a %s that hangs, with the signal's own reason", async (_, act) => {
    const asked = Promise.withResolvers<void>();
    const server = await scripted((request, response) => {
      stalls(request, response);
      asked.resolve();
    }, true);
    const controller = new AbortController();
    const work = act(open(server), controller.signal);
    void asked.promise.then(() => controller.abort(reason));
    await expect(work).rejects.toBe(reason);
  });

  it("ends while waiting for a token", async () => {
    const server = await fake();
    const tokens = { headers: () => new Promise<never>(() => {}), refused: () => {} };
    const controller = new AbortController();
    const work = open(server, { tokens }).get("a", { signal: controller.signal });
    controller.abort(reason);
    await expect(work).rejects.toBe(reason);
  });

  it("gives up a connection on which nothing moves, to be tried again", async () => {
    const server = await scripted(stalls, true);
    const store = open(server, { idleMs: 50 });
    const large = Buffer.alloc(32 << 20);
    for (const act of [() => store.get("a"), () => store.put("a", large), () => store.check()]) {
      await expect(act()).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
    }
  });
});

describe("listing", () => {
  it("goes through all pages, of objects and of folders", async () => {
    const server = await fake();
    const bucket = server.bucket("bkt");
    const keys = Array.from({ length: 2_345 }, (_, i) => `d${String(i).padStart(4, "0")}/x`);
    for (const key of keys) bucket.put(`pre/fix/${key}`, bytes);
    bucket.put("pre/fixed/x", bytes);
    bucket.put("other", bytes);
    const store = open(server);
    expect((await all(store.list(""))).map((info) => info.key)).toEqual(keys);
    expect(await all(store.folders(""))).toEqual(keys.map((key) => key.slice(0, -1)));
    expect((await all(store.list("d001"))).length).toBe(10);
  });

  it("passes over what others keep there under names that cannot be ours", async () => {
    const server = await fake();
    for (const name of ["pre/fix/", "pre/fix/a/", "pre/fix/a/ok", "pre/fix/a b/c", "pre/fix/ä", "pre/fix//x"]) {
      server.bucket("bkt").put(name, bytes);
    }
    const store = open(server);
    expect(await all(store.list(""))).toEqual([{ key: "a/ok", size: 5 }]);
    expect(await all(store.folders(""))).toEqual(["a/"]);
  });
});

describe("a bucket", () => {
  it("says where it is, in lower case, and nothing when one may not ask", async () => {
    expect(await open(await fake()).location()).toBe("us-central1");
    expect(await open(await scripted(answering(403, "no"))).location()).toBeUndefined();
    expect(await open(await scripted(answering(200, {}))).location()).toBeUndefined();
  });

  it("is checked by one listing of one object under the prefix", async () => {
    const server = await scripted(answering(200, {}));
    await open(server, { access: "read" }).check();
    expect(server.seen.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([
      "GET /storage/v1/b/bkt/o?prefix=pre/fix/&maxResults=1&fields=items(name),nextPageToken",
    ]);
  });

  it("of a server that creates one name twice is refused, and one that does not is left clean", async () => {
    const server = await fake();
    await open(server).check();
    expect(server.bucket("bkt").names()).toEqual([]);
    const careless = await scripted((request, response) => {
      const { name, crc32c } = JSON.parse(/\{.*\}/.exec(request.body.toString())?.[0] ?? "{}") as Record<
        string,
        string
      >;
      answering(200, { name, crc32c })(request, response);
    });
    await expect(open(careless).check()).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
    await open(careless, { access: "read" }).check();
  });

  it("is opened through openStore, which finds out whether it is there", async () => {
    const server = await fake();
    const store = await openStore(`gs://bkt?endpoint=${server.url}`, { access: "write" });
    await store.put("top", bytes);
    expect(server.bucket("bkt").names()).toEqual(["top"]);
    const error: unknown = await openStore(`gs://none?endpoint=${server.url}`, { access: "read" }).catch(
      (caught: unknown) => caught,
    );
    expect(isOutlastError(error, "OUTLAST_BUCKET_MISSING")).toBe(true);
  });

  it("refuses a prefix that leaves no room for keys", () => {
    const place = parseBucketUrl(`gs://bkt/${"p".repeat(600)}`);
    expect(() => openBucketStore(place, { access: "read" })).toThrow(/longer than 512/);
  });
});
