import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseBucketUrl } from "../../src/storage/bucket-url.ts";
import { crc32cText } from "../../src/storage/crc32c.ts";
import type { BucketStore } from "../../src/storage/index.ts";
import { openBucketStore } from "../../src/storage/s3/index.ts";
import { createS3Client } from "../../src/storage/s3/s3-client.ts";
import { S3Store } from "../../src/storage/s3/s3-store.ts";
import { useTestCredentials } from "./s3-env.ts";
import { listingOf, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
let store: BucketStore;
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array) => new TextDecoder().decode(body);
const place = (query = "") => parseBucketUrl(`s3://bucket/team?endpoint=${server.url}${query}`);

async function all<T>(listing: AsyncIterable<T>): Promise<T[]> {
  const entries: T[] = [];
  for await (const entry of listing) entries.push(entry);
  return entries;
}

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  useTestCredentials();
  store = openBucketStore(place(), { access: "write" });
});

it("asks nothing when it is opened", () => {
  server.play();
  openBucketStore(place(), { access: "write" });
  expect(server.requests).toHaveLength(0);
});

describe("a put", () => {
  it("carries its native checksum and is not hashed for the signature", async () => {
    server.play({}, {});
    await store.put("a/b", bytes("hello"));
    await store.putIfAbsent("a/c", bytes("hello"));
    const [plain, created] = server.requests;
    expect(plain).toMatchObject({ method: "PUT", body: Buffer.from("hello") });
    expect(plain?.path).toMatch(/^\/bucket\/team\/a\/b(\?|$)/);
    expect(plain?.headers).toMatchObject({
      "content-length": "5",
      "x-amz-checksum-crc32c": crc32cText(bytes("hello")),
      "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    });
    expect(plain?.headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-checksum-crc32c/);
    for (const name of ["if-none-match", "expect", "transfer-encoding", "x-amz-trailer"]) {
      expect(plain?.headers[name], name).toBeUndefined();
    }
    expect(created?.headers["if-none-match"]).toBe("*");
  });

  it("of 3 MB waits for no permission to send; puts and gets share one connection", async () => {
    const large = new Uint8Array(3_000_000).fill(7);
    server.play({}, { body: large }, {}, { status: 404, code: "NoSuchKey" }, { body: large });
    const before = server.connections;
    await store.put("a", large);
    expect(await store.get("a")).toHaveLength(large.length);
    await store.put("b", large);
    await expect(store.get("c")).rejects.toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND" });
    await store.get("b");
    expect(server.requests.map(({ headers }) => headers.expect)).not.toContain("100-continue");
    expect(server.connections - before).toBe(1);
  });

  it("that finds the name taken says so, and nothing else does", async () => {
    server.play({ status: 412, code: "PreconditionFailed" }, {}, { status: 412, code: "PreconditionFailed" });
    expect(await store.putIfAbsent("a", bytes("x"))).toBe("exists");
    expect(await store.putIfAbsent("a", bytes("x"))).toBe("created");
    await expect(store.put("a", bytes("x"))).rejects.toMatchObject({ code: "OUTLAST_STORE_FAILED" });
  });
});

describe("a get", () => {
  it("asks for the stored checksum and refuses bytes that do not fit it", async () => {
    const right = { "x-amz-checksum-crc32c": crc32cText(bytes("right")) };
    server.play({ body: "right", headers: right }, { body: "wrong", headers: right });
    expect(text(await store.get("a"))).toBe("right");
    expect(server.requests[0]?.headers["x-amz-checksum-mode"]).toBe("ENABLED");
    await expect(store.get("a")).rejects.toMatchObject({ code: "OUTLAST_STORE_FAILED", recovery: "retry" });
  });

  it("takes a checksum of parts, or of the whole for a range, for what it is: no help", async () => {
    server.play(
      { body: "body", headers: { "x-amz-checksum-crc32c": "AAAAAA==-3" } },
      {
        status: 206,
        body: "od",
        headers: { "content-range": "bytes 1-2/4", "x-amz-checksum-crc32c": crc32cText(bytes("body")) },
      },
    );
    expect(text(await store.get("a"))).toBe("body");
    expect(text(await store.get("a", { range: { offset: 1, length: 2 } }))).toBe("od");
    expect(server.requests[1]?.headers.range).toBe("bytes=1-2");
  });

  it("of a cut-off body fails, and never gives the part that came", async () => {
    const buffer = new Uint8Array(10);
    server.play({ body: "0123456789", cut: { bytes: 4, then: "break" } });
    await expect(store.get("a", { into: buffer })).rejects.toMatchObject({ recovery: "retry" });
  });

  it("never takes other bytes for the range it asked for", async () => {
    server.play(
      { body: "0123456789" },
      { status: 206, body: "01", headers: { "content-range": "bytes 0-1/10" } },
      { body: "01" },
    );
    const range = { offset: 4, length: 2 };
    await expect(store.get("a", { range })).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
    await expect(store.get("a", { range })).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
    // The whole object for a range that covers it is the same thing.
    expect(text(await store.get("a", { range: { offset: 0, length: 9 } }))).toBe("01");
  });

  it("stops at once when told, and leaves the caller's buffer alone from then on", async () => {
    const buffer = new Uint8Array(10);
    server.play({ body: "0123456789", cut: { bytes: 4, then: "silence" } });
    const controller = new AbortController();
    const work = store.get("a", { into: buffer, signal: controller.signal });
    while (buffer[0] === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error("deadline");
    controller.abort(reason);
    await expect(work).rejects.toBe(reason);
    buffer.fill(9);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(buffer.every((byte) => byte === 9)).toBe(true);
  });

  it("gives up on a connection that has gone silent", async () => {
    const impatient = new S3Store(place(), "write", server.url, () => createS3Client(place(), server.url, 100));
    server.play({ body: "0123456789", cut: { bytes: 4, then: "silence" } });
    await expect(impatient.get("a")).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
  });
});

describe("a listing", () => {
  it("goes from page to page, and passes over what is no key", async () => {
    server.play(
      listingOf(["team/", "team/a", "team/a%20b", "team/b"], { next: "t/1+=" }),
      listingOf(["team/c", "team/.outlast-tmp/probe-1"]),
    );
    expect(await all(store.list(""))).toEqual([
      { key: "a", size: 6 },
      { key: "b", size: 6 },
      { key: "c", size: 6 },
    ]);
    const [first, second] = server.requests.map(({ path }) => new URLSearchParams(path.split("?")[1]));
    expect(first?.get("prefix")).toBe("team/");
    expect(first?.get("continuation-token")).toBeNull();
    expect(second?.get("continuation-token")).toBe("t/1+=");
  });

  it("of folders goes from page to page", async () => {
    server.play(
      listingOf([], { folders: ["team/x/.outlast-tmp/", "team/x/a/"], next: "t" }),
      listingOf(["team/x/file"], { folders: ["team/x/b/"] }),
    );
    expect(await all(store.folders("x/"))).toEqual([".outlast-tmp/", "a/", "b/"]);
    expect(server.requests[0]?.path).toContain("delimiter=%2F");
  });

  it("out of order, cut short, or of no listing at all is refused", async () => {
    server.play(
      listingOf(["team/b", "team/a"]),
      { body: "<ListBucketResult><Name>bucket</Name><IsTruncated>true</IsTruncated></ListBucketResult>" },
      { body: "<html><body>Welcome</body></html>" },
    );
    for (let i = 0; i < 3; i += 1) {
      await expect(all(store.list(""))).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
    }
  });
});

describe("the check", () => {
  const honest = () => {
    const objects = new Set<string>();
    server.playBy(({ method, path, headers }) => {
      const key = path.split("?")[0] ?? "";
      if (method === "GET") return listingOf([]);
      if (method === "DELETE") return objects.delete(key) ? { status: 204 } : { status: 500, code: "NotThere" };
      if (objects.has(key) && headers["if-none-match"] === "*") return { status: 412, code: "PreconditionFailed" };
      objects.add(key);
      return {};
    });
    return objects;
  };

  it("creates a name twice, lists, and leaves nothing behind", async () => {
    const objects = honest();
    await store.check();
    expect(server.requests.map(({ method }) => method).sort()).toEqual(["DELETE", "GET", "PUT", "PUT"]);
    expect(server.requests.find(({ method }) => method === "PUT")?.path).toMatch(/\/team\/\.outlast-tmp\/probe-/);
    expect(objects.size).toBe(0);
  });

  it("only reads when opened for reading; writes are refused without asking", async () => {
    const reader = openBucketStore(place(), { access: "read" });
    honest();
    await reader.check();
    expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
    for (const work of [reader.put("a", bytes("x")), reader.putIfAbsent("a", bytes("x")), reader.delete("a")]) {
      await expect(work).rejects.toMatchObject({ code: "OUTLAST_STORE_NOT_WRITABLE", target: "a" });
    }
    expect(server.requests).toHaveLength(1);
  });

  it("refuses a server that ignores the condition, and takes its probe away", async () => {
    let isDeleted = false;
    server.playBy(({ method }) => {
      isDeleted ||= method === "DELETE";
      return method === "GET" ? listingOf([]) : {};
    });
    const error: unknown = await store.check().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE", recovery: "give-up" });
    expect(String(error)).toContain('gave "created", "created"');
    expect(isDeleted).toBe(true);
  });

  it("refuses a server that does not know the condition", async () => {
    server.playBy(({ method }) => (method === "GET" ? listingOf([]) : { status: 501, code: "NotImplemented" }));
    await expect(store.check()).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
  });
});

describe("where it is", () => {
  const located = (constraint: string) => ({
    body: `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${constraint}</LocationConstraint>`,
  });

  it("is the region the server names; unknown when another server names none, or we may not ask", async () => {
    server.play(
      located("eu-west-3"),
      located("EU"),
      located(""),
      { status: 403, code: "AccessDenied" },
      { status: 501 },
    );
    expect(await store.location()).toBe("eu-west-3");
    expect(await store.location()).toBe("eu-west-1");
    expect(await store.location()).toBeUndefined();
    expect(await store.location()).toBeUndefined();
    expect(await store.location()).toBeUndefined();
  });

  it("is Amazon's first region when Amazon names none", async () => {
    const amazon = new S3Store(place(), "read", undefined, () => createS3Client(place(), server.url));
    server.play(located(""));
    expect(await amazon.location()).toBe("us-east-1");
  });
});

describe("the client", () => {
  const signedRegion = () =>
    /Credential=[^/]*\/\d+\/([^/]+)\//.exec(server.requests[0]?.headers.authorization ?? "")?.[1];

  it.each([
    ["the URL's region before the environment's", "&region=eu-north-1", { AWS_REGION: "us-west-2" }, "eu-north-1"],
    ["the environment's", "", { AWS_REGION: "us-west-2" }, "us-west-2"],
    ["us-east-1 for another server where none is named", "", {}, "us-east-1"],
  ])("signs for %s", async (_, query, env, region) => {
    useTestCredentials(env);
    server.play({});
    await openBucketStore(place(query), { access: "write" }).put("a", bytes("x"));
    expect(signedRegion()).toBe(region);
  });

  it.each(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])(
    "takes another server from %s, with its path style",
    async (name) => {
      useTestCredentials({ [name]: server.url.replace("127.0.0.1", "localhost") });
      server.play({});
      await openBucketStore(parseBucketUrl("s3://bucket/team"), { access: "write" }).put("a", bytes("x"));
      expect(server.requests[0]?.path).toMatch(/^\/bucket\/team\/a/);
    },
  );
});
