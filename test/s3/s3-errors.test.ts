import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OutlastError } from "../../src/core/index.ts";
import { parseBucketUrl } from "../../src/storage/bucket-url.ts";
import type { BucketStore } from "../../src/storage/index.ts";
import { openBucketStore } from "../../src/storage/s3/index.ts";
import { useTestCredentials } from "./s3-env.ts";
import { type Answer, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
let store: BucketStore;
const body = new TextEncoder().encode("hello");

const open = (query = "", access: "read" | "write" = "write") =>
  openBucketStore(parseBucketUrl(`s3://bucket/team?endpoint=${server.url}${query}`), { access });

async function failure(work: Promise<unknown>): Promise<OutlastError> {
  const error: unknown = await work.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof OutlastError) return error;
  throw error;
}

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  useTestCredentials();
  store = open();
});

describe("what may pass says so", () => {
  const cases: readonly (readonly [string, Answer])[] = [
    ["408", { status: 408 }],
    ["429", { status: 429, code: "TooManyRequests" }],
    ["500", { status: 500, code: "InternalError" }],
    ["502 with a page of a proxy", { status: 502, body: "<html><body>Bad gateway</body></html>" }],
    ["503 with text", { status: 503, body: "no healthy upstream" }],
    ["503 SlowDown", { status: 503, code: "SlowDown", message: "Please reduce your request rate." }],
    ["504 without a body", { status: 504 }],
    ["400 RequestTimeout", { status: 400, code: "RequestTimeout" }],
    ["409 ConditionalRequestConflict", { status: 409, code: "ConditionalRequestConflict" }],
    ["409 OperationAborted", { status: 409, code: "OperationAborted" }],
    ["400 BadDigest", { status: 400, code: "BadDigest" }],
    ["400 IncompleteBody", { status: 400, code: "IncompleteBody" }],
    ["400 KMS.ThrottlingException", { status: 400, code: "KMS.ThrottlingException" }],
  ];

  it.each(cases)("%s", async (_, answer) => {
    server.play(answer, answer, answer);
    for (const act of [() => store.put("a", body), () => store.putIfAbsent("a", body), () => store.get("a")]) {
      const error = await failure(act());
      expect(error).toMatchObject({ recovery: "retry", target: "a" });
      expect(error.code).toMatch(/^OUTLAST_STORE_(FAILED|UNREACHABLE)$/);
      expect(error.hint).toBeTruthy();
    }
    expect(server.requests, "the client itself tries once").toHaveLength(3);
  });

  it("passes on how long the server asks to wait", async () => {
    server.play({ status: 503, code: "SlowDown", headers: { "retry-after": "7" } }, { status: 503 });
    expect(await failure(store.get("a"))).toMatchObject({ recovery: "retry", retryAfterMs: 7000 });
    expect((await failure(store.get("a"))).retryAfterMs).toBeUndefined();
  });

  it("a connection that is refused, broken or cut in the middle of a body", async () => {
    const gone = await startScriptedServer();
    await gone.stop();
    const nobody = openBucketStore(parseBucketUrl(`s3://bucket/x?endpoint=${gone.url}`), { access: "write" });
    const refused = await failure(nobody.put("a", body));
    expect(refused).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
    expect(refused.message).toContain("ECONNREFUSED");

    server.play({ body: "0123456789", cut: { bytes: 4, then: "break" } }, { hangUp: true });
    const cut = await failure(store.get("a"));
    expect(cut).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
    expect(await failure(store.get("a"))).toMatchObject({ recovery: "retry" });
  });
});

describe("what does not pass says what to do", () => {
  it.each([
    ["InvalidAccessKeyId", "does not know this access key", /AWS_ACCESS_KEY_ID/],
    ["SignatureDoesNotMatch", "signature does not match", /AWS_SECRET_ACCESS_KEY/],
    ["InvalidToken", "session token", /AWS_SESSION_TOKEN/],
  ])("%s", async (code, what, hint) => {
    server.play({ status: 403, code });
    const error = await failure(store.get("a"));
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up", exitCode: 2 });
    expect(error.message).toContain(what);
    expect(error.hint).toMatch(hint);
  });

  it("AccessDenied names the permission that is missing", async () => {
    server.playBy(() => ({ status: 403, code: "AccessDenied", message: "Access Denied" }));
    const named = async (work: Promise<unknown>) => {
      const error = await failure(work);
      expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up" });
      return /lack (\S+) on the bucket bucket/.exec(error.message)?.[1];
    };
    expect(await named(store.put("a", body))).toBe("s3:PutObject");
    expect(await named(store.putIfAbsent("a", body))).toBe("s3:PutObject");
    expect(await named(store.get("a"))).toBe("s3:GetObject");
    expect(await named(store.delete("a"))).toBe("s3:DeleteObject");
    expect(await named(store.list("")[Symbol.asyncIterator]().next())).toBe("s3:ListBucket");
    expect(await named(store.check())).toBe("s3:ListBucket");
    server.playBy(() => ({
      status: 403,
      code: "AccessDenied",
      message: "User: arn:aws:iam::1:user/x is not authorized to perform: kms:GenerateDataKey on resource: arn",
    }));
    expect(await named(store.put("a", body))).toBe("kms:GenerateDataKey");
  });

  it("NoSuchBucket is never taken for an object that is not there", async () => {
    server.playBy(() => ({ status: 404, code: "NoSuchBucket" }));
    for (const act of [
      () => store.get("a"),
      () => store.put("a", body),
      () => store.delete("a"),
      () => store.check(),
    ]) {
      const error = await failure(act());
      expect(error).toMatchObject({ code: "OUTLAST_BUCKET_MISSING", recovery: "give-up", exitCode: 2 });
      expect(error.message).toContain(`no bucket bucket on ${server.url}`);
    }
    server.play({ status: 404, code: "NoSuchKey" });
    expect(await failure(store.get("a"))).toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND", target: "a" });
  });

  it.each([
    ["PermanentRedirect", { status: 301, headers: { "x-amz-bucket-region": "eu-west-3" } }],
    [
      "AuthorizationHeaderMalformed",
      {
        status: 400,
        message: "the region 'us-east-1' is wrong; expecting 'eu-west-3'",
        extra: "<Region>eu-west-3</Region>",
      },
    ],
  ])("a bucket of another region: %s", async (code, answer) => {
    server.play({ code, ...answer });
    const error = await failure(store.get("a"));
    expect(error).toMatchObject({ code: "OUTLAST_BUCKET_MISSING", recovery: "give-up" });
    expect(error.message).toContain("the region eu-west-3");
    expect(error.hint).toContain("?region=eu-west-3");
  });

  it("requester pays, a full server, an archived object, no conditional writes", async () => {
    server.play(
      { status: 403, code: "AccessDenied", headers: { "x-amz-request-charged": "requester" } },
      { status: 507, code: "XMinioStorageFull" },
      { status: 403, code: "InvalidObjectState" },
      { status: 501, code: "NotImplemented", message: "A header you provided implies functionality" },
    );
    expect((await failure(store.get("a"))).message).toContain("makes the requester pay");
    expect(await failure(store.put("a", body))).toMatchObject({ code: "OUTLAST_DISK_FULL" });
    expect((await failure(store.get("a"))).message).toContain("archive");
    expect(await failure(store.putIfAbsent("a", body))).toMatchObject({
      code: "OUTLAST_STORE_UNSUITABLE",
      recovery: "give-up",
    });
  });

  it("no credentials: says what was looked for", async () => {
    useTestCredentials({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    server.play();
    const error = await failure(open().check());
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up", exitCode: 2 });
    expect(error.message).toContain("no credentials were found");
    for (const source of ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "instance role"]) {
      expect(error.hint).toContain(source);
    }
    expect(server.requests).toHaveLength(0);
  });

  it("no region at all", async () => {
    const plain = openBucketStore(parseBucketUrl("s3://bucket/x"), { access: "read" });
    const error = await failure(plain.get("a"));
    expect(error).toMatchObject({ code: "OUTLAST_USAGE" });
    expect(error.hint).toContain("?region=NAME");
  });

  it("an answer nobody foresaw is told as it came", async () => {
    server.play({ status: 418, code: "Teapot", message: "short and stout" });
    expect((await failure(store.get("a"))).message).toBe(
      "cannot get a: the server answered 418 (Teapot: short and stout)",
    );
  });
});

describe("what heals by itself", () => {
  it("a wrong clock: the next request is signed with the server's time", async () => {
    const hourAhead = new Date(Date.now() + 3_600_000);
    const date = hourAhead.toUTCString();
    server.play({ status: 403, code: "RequestTimeTooSkewed", headers: { date } }, { body: "fine", headers: { date } });
    const error = await failure(store.get("a"));
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "retry" });
    expect(error.message).toContain("clock is wrong");
    expect(error.message).toContain(date);
    expect(new TextDecoder().decode(await store.get("a"))).toBe("fine");
    const signedAt = server.requests[1]?.headers["x-amz-date"];
    expect(String(signedAt).slice(0, 11)).toBe(hourAhead.toISOString().replaceAll(/[-:]/g, "").slice(0, 11));
  });

  it("credentials that ran out: the next request reads them anew", async () => {
    server.play({ status: 400, code: "ExpiredToken" }, { body: "fine" });
    expect(await failure(store.get("a"))).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "retry" });
    process.env["AWS_ACCESS_KEY_ID"] = "newer-key";
    await store.get("a");
    expect(server.requests[0]?.headers.authorization).toContain("test-key");
    expect(server.requests[1]?.headers.authorization).toContain("newer-key");
  });
});

it("puts no secret into an error", async () => {
  server.playBy(() => ({ status: 403, code: "SignatureDoesNotMatch" }));
  const error = await failure(store.put("a", body));
  expect(`${error.message} ${error.hint}`).not.toMatch(/test-key|test-secret/);
});
