import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { answering, refusing, type Script, startScripted } from "../../../test/servers/fake-gcs/scripted.ts";
import { freePort } from "../../../test/servers/server-process.ts";
import type { OutlastError } from "../../core/index.ts";
import { parseBucketUrl } from "../bucket-url.ts";
import type { BucketStore } from "../object-store.ts";
import { openBucketStore } from "./open-gcs-store.ts";

type Act = (store: BucketStore) => Promise<unknown>;
const put: Act = (store) => store.put("a", Buffer.from("x"));
const create: Act = (store) => store.putIfAbsent("a", Buffer.from("x"));
const get: Act = (store) => store.get("a");
const drop: Act = (store) => store.delete("a");
const check: Act = (store) => store.check();

async function errorOf(script: Script, act: Act, access: "read" | "write" = "write"): Promise<OutlastError> {
  const server = await startScripted(script);
  const place = parseBucketUrl(`gs://bkt/p?endpoint=${server.url}`);
  const tokens = { headers: () => Promise.resolve({ authorization: "Bearer ya29.secret" }), refused: () => {} };
  const error = await failureOf(openBucketStore(place, { access, tokens }), act);
  await server.stop();
  return error;
}

async function failureOf(store: BucketStore, act: Act): Promise<OutlastError> {
  return (await act(store).then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error,
  )) as OutlastError;
}

const passing = { code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" };
const denied = { code: "OUTLAST_STORE_DENIED", recovery: "give-up" };
const account = "trainer@proj.iam.gserviceaccount.com";

describe("an answer of the server", () => {
  it.each([408, 409, 429, 500, 502, 503, 504])("with status %s is worth another attempt", async (status) => {
    for (const act of [put, create, get, drop, check]) {
      const error = await errorOf(refusing(status, "try later"), act);
      expect(error).toMatchObject(passing);
      expect(error.message).toMatch(/try later \(status/);
    }
  });

  it("with a rate limit in the clothes of a 403 is worth another attempt", async () => {
    expect(await errorOf(refusing(403, "slow down", "rateLimitExceeded"), put)).toMatchObject(passing);
  });

  it("that calls our checksum wrong is worth another attempt: the bytes changed on their way", async () => {
    const script = refusing(400, 'Provided CRC32C "AAAAAA==" doesn\'t match calculated CRC32C "mnG7TA==".', "invalid");
    expect(await errorOf(script, put)).toMatchObject(passing);
  });

  it.each([
    ["7", 7_000],
    [new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
    ["soon", undefined],
  ])("may say how long to wait: %s", async (header, wantedMs) => {
    const error = await errorOf(refusing(503, "busy", "", { "retry-after": header }), get);
    if (wantedMs === undefined) expect(error.retryAfterMs).toBeUndefined();
    else expect(Math.abs((error.retryAfterMs ?? 0) - wantedMs)).toBeLessThan(10_000);
  });

  it("that one name is written too often is waited out for a second", async () => {
    expect(await errorOf(refusing(429, "slow down", "rateLimitExceeded"), put)).toMatchObject({ retryAfterMs: 1000 });
    expect((await errorOf(refusing(429, "slow down"), get)).retryAfterMs).toBeUndefined();
  });

  it("401 says that the credentials were refused, and never shows them", async () => {
    const error = await errorOf(refusing(401, "Invalid Credentials", "authError"), get);
    expect(error).toMatchObject(denied);
    expect(error.message).toContain("Invalid Credentials");
    expect(JSON.stringify([error, error.message, error.hint, error.stack, String(error.cause)])).not.toContain(
      "secret",
    );
  });

  it("401 with a date far from ours says that the clock is off", async () => {
    const date = new Date(Date.now() - 42 * 60_000).toUTCString();
    const error = await errorOf(refusing(401, "Invalid Credentials", "authError", { date }), get);
    expect(error).toMatchObject(denied);
    expect(error.message).toContain("clock is 42 minutes off");
  });

  it("403 names the account, the missing permission and the role that holds it", async () => {
    const message = `${account} does not have storage.objects.create access to the Google Cloud Storage object. Permission 'storage.objects.create' denied on resource (or it may not exist).`;
    const error = await errorOf(refusing(403, message, "forbidden"), put);
    expect(error).toMatchObject(denied);
    expect(error.message).toContain("storage.objects.create");
    expect(error.hint).toContain(`give ${account} roles/storage.objectUser on the bucket bkt`);
    expect(error.hint).toMatch(/Workload Identity.*devstorage\.read_only/);
    const reading = await errorOf(refusing(403, message, "forbidden"), get, "read");
    expect(reading.hint).toContain("roles/storage.objectViewer");
  });

  it.each([
    ["Request had insufficient authentication scopes.", "insufficientPermissions", {}, /scope.*storage-rw/],
    ["Insufficient Permission", "", { "www-authenticate": 'Bearer error="insufficient_scope"' }, /Workload Identity/],
    ["The billing account for the owning project is disabled in state absent", "accountDisabled", {}, /billing/],
    [
      "Caller does not have required permission to use project payer. Grant the caller the roles/serviceusage.serviceUsageConsumer role",
      "forbidden",
      {},
      /GOOGLE_CLOUD_QUOTA_PROJECT/,
    ],
    [
      "Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: x",
      "forbidden",
      {},
      /perimeter/,
    ],
    ["Object 'bkt/p/a' is subject to bucket's retention policy", "retentionPolicyNotMet", {}, /without a retention/],
  ])("403 because of %j is told apart", async (message, reason, headers, hint) => {
    const error = await errorOf(refusing(403, message, reason, headers), put);
    expect(error).toMatchObject(denied);
    expect(error.hint).toMatch(hint);
  });

  it("404 is about the object when one was asked for", async () => {
    for (const script of [answering(404, "No such object: bkt/p/a"), refusing(404, "Not Found", "notFound")]) {
      const error = await errorOf(script, get);
      expect(error).toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND", operation: "get", target: "a" });
    }
    await expect(errorOf(answering(404, "No such object: bkt/p/a"), drop)).rejects.toThrow("did not fail");
  });

  it("404 is about the bucket when that is missing", async () => {
    const script = refusing(404, "The specified bucket does not exist.", "notFound");
    for (const act of [put, create, get, drop, check]) {
      const error = await errorOf(script, act);
      expect(error).toMatchObject({ code: "OUTLAST_BUCKET_MISSING", recovery: "give-up" });
      expect(error.message).toMatch(/there is no bucket bkt at http:\/\/127\.0\.0\.1:\d+$/);
    }
  });

  it("says how to pay where the requester pays", async () => {
    const script = refusing(400, "Bucket is a requester pays bucket but no user project provided.", "required");
    for (const act of [put, get, check]) {
      const error = await errorOf(script, act);
      expect(error).toMatchObject(denied);
      expect(error.hint).toContain("GOOGLE_CLOUD_QUOTA_PROJECT");
    }
  });

  it.each<[string, Script]>([
    ["a redirect", answering(302, "", { location: "https://login.example" })],
    ["a web page", answering(200, "<html>Welcome</html>")],
    ["another API's list", answering(200, [1, 2])],
    ["a refusal in HTML", answering(405, "<h1>Method Not Allowed</h1>")],
  ])("that is %s means a wrong endpoint", async (_, script) => {
    const error = await errorOf(script, check);
    expect(error).toMatchObject({ code: "OUTLAST_STORE_FAILED", recovery: "give-up" });
    expect(error.hint).toContain("check the endpoint in the store's URL");
  });
});

describe("no answer", () => {
  const at = (endpoint: string) =>
    openBucketStore(parseBucketUrl(`gs://bkt/p?endpoint=${endpoint}`), { access: "write" });

  it("because nobody listens is worth another attempt, and says where it was looked for", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    for (const act of [put, get, check]) {
      const error = await failureOf(at(url), act);
      expect(error).toMatchObject(passing);
      expect(error.message).toContain(`${url} cannot be reached`);
      expect(error.hint).toContain("check the endpoint");
    }
  });

  it.each<[string, Script]>([
    ["closes the connection", (_, response) => response.destroy()],
    ["resets the connection", (_, response) => response.socket?.resetAndDestroy()],
    ["sends no HTTP", (_, response) => response.socket?.end("nonsense\r\n\r\n")],
  ])("because the server %s is worth another attempt", async (_, script) => {
    for (const act of [put, create, get, drop, check]) expect(await errorOf(script, act)).toMatchObject(passing);
  });

  it("because TLS is spoken to a server that does not speak it means a wrong endpoint", async () => {
    const plain = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    const place = parseBucketUrl(`gs://bkt/p?endpoint=https://127.0.0.1:${port}`);
    const tokens = { headers: () => Promise.resolve({}), refused: () => {} };
    const error = await failureOf(openBucketStore(place, { access: "write", tokens }), check);
    plain.close();
    expect(error).toMatchObject({ code: "OUTLAST_STORE_FAILED", recovery: "give-up" });
    expect(error.hint).toContain("check the endpoint");
  });
});
