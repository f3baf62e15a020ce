import { request } from "node:http";
import { afterEach, expect, it } from "vitest";
import { type FakeGcs, type FakeGcsOptions, startFakeGcs } from "./index.ts";
import { Wire } from "./wire.ts";

let server: FakeGcs;
afterEach(() => server.stop());

async function start(options?: FakeGcsOptions): Promise<Wire> {
  server = await startFakeGcs(options);
  await server.createBucket("bkt");
  return new Wire(server.url, "bkt");
}

const generationOf = async (response: Response) => ((await response.json()) as { generation: string }).generation;
const remove = { method: "DELETE" };

// fake-gcs-server ignores all of these.
it("holds to preconditions when reading and deleting", async () => {
  const wire = await start();
  const generation = await generationOf(await wire.insert("a", "x"));
  for (const media of ["", "&alt=media"]) {
    expect((await wire.object("a", `?ifGenerationMatch=${generation}${media}`)).status).toBe(200);
    expect((await wire.object("a", `?ifGenerationMatch=1${media}`)).status).toBe(412);
    expect((await wire.object("a", `?ifGenerationNotMatch=${generation}${media}`)).status).toBe(304);
    expect((await wire.object("a", `?ifMetagenerationMatch=2${media}`)).status).toBe(412);
  }
  expect((await wire.object("a", "?ifGenerationMatch=1", remove)).status).toBe(412);
  expect((await wire.object("a", `?generation=1`, remove)).status).toBe(404);
  expect((await wire.object("a", `?ifGenerationMatch=${generation}`, remove)).status).toBe(204);
  expect((await wire.object("a")).status).toBe(404);
});

it("counts common beginnings towards a page, and goes on behind them", async () => {
  const wire = await start();
  for (const name of ["a/1", "a/2", "b", "c/1", "c/2", "d", "e/1"]) await wire.insert(name, "x");
  const pages: unknown[] = [];
  let token: string | undefined = "";
  while (token !== undefined) {
    const page = await wire.list(
      `delimiter=%2F&maxResults=2${token && `&pageToken=${token}`}&fields=items(name),prefixes,nextPageToken`,
    );
    token = page.nextPageToken;
    pages.push({ items: page.items?.map((item) => item.name), prefixes: page.prefixes });
  }
  expect(pages).toEqual([
    { items: ["b"], prefixes: ["a/"] },
    { items: ["d"], prefixes: ["c/"] },
    { items: undefined, prefixes: ["e/"] },
  ]);
});

it("says by its words whether the bucket or the object is missing", async () => {
  const wire = await start();
  expect(await (await wire.object("a/b", "?alt=media")).text()).toBe("No such object: bkt/a/b");
  expect(await (await wire.in("none").object("a", "?alt=media")).text()).toBe("The specified bucket does not exist.");
});

it("gives only the fields asked for", async () => {
  const wire = await start();
  const answer = await wire.insert("a", "xyz", "&fields=name,size");
  expect(await answer.json()).toEqual({ name: "a", size: "3" });
  expect(await wire.list("fields=items(name),nextPageToken")).toEqual({ items: [{ name: "a" }] });
  expect(await wire.list("fields=prefixes")).toEqual({});
});

it("takes one change of a name in a second, if told so", async () => {
  let nowMs = 1_000_000;
  const wire = await start({ onePerSecond: true, now: () => nowMs });
  const statuses = async () => [(await wire.insert("a", "x")).status, (await wire.insert("b", "x")).status];
  expect(await statuses()).toEqual([200, 200]);
  nowMs += 999;
  expect(await statuses()).toEqual([429, 429]);
  expect((await wire.object("a", "", remove)).status).toBe(429);
  nowMs += 1;
  expect(await statuses()).toEqual([200, 200]);
});

it("keeps nothing of an upload that was cut off", async () => {
  await start();
  const upload = request(`${server.url}/upload/storage/v1/b/bkt/o?uploadType=media&name=cut`, {
    method: "POST",
    headers: { "content-length": 1000 },
  });
  upload.on("error", () => {});
  await new Promise((resolve) => upload.write(Buffer.alloc(500), resolve));
  upload.destroy();
  await new Promise((resolve) => upload.once("close", resolve));
  const wire = new Wire(server.url, "bkt");
  expect(await wire.list("")).toEqual({ kind: "storage#objects" });
});

it("lets a test damage an object, with or without its checksum", async () => {
  const wire = await start();
  await wire.insert("a", "hello");
  const object = server.bucket("bkt").objects.get("a");
  if (object) object.bytes = Buffer.from("hullo");
  const damaged = await wire.object("a", "?alt=media");
  expect(await damaged.text()).toBe("hullo");
  expect(damaged.headers.get("x-goog-hash")).toBe("crc32c=mnG7TA==");
  server.bucket("bkt").put("a", Buffer.from("hullo"));
  expect((await wire.object("a", "?alt=media")).headers.get("x-goog-hash")).not.toBe("crc32c=mnG7TA==");
});
