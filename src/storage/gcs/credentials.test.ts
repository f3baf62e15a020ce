import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthClient } from "google-auth-library";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startFakeGcs } from "../../../test/servers/fake-gcs/index.ts";
import { answering, refusing, type Script, startScripted } from "../../../test/servers/fake-gcs/scripted.ts";
import { freePort } from "../../../test/servers/server-process.ts";
import { type OutlastError, systemClock } from "../../core/index.ts";
import { FakeClock } from "../../testing/index.ts";
import { parseBucketUrl } from "../bucket-url.ts";
import { GoogleCredentials, type TokenSource } from "./credentials.ts";
import { findDefaultClient } from "./default-client.ts";
import { openBucketStore } from "./open-gcs-store.ts";

const minute = 60_000;

/** Stands for the library's client: tokens are good for an hour, and kept until five minutes before their end. */
function clientOf(clock: FakeClock, fetchToken: (count: number) => Promise<string>) {
  let count = 0;
  let token = "";
  const client = {
    credentials: { expiry_date: 0 },
    async getRequestHeaders() {
      if (clock.now() >= client.credentials.expiry_date - 5 * minute) {
        count += 1;
        token = await fetchToken(count);
        client.credentials.expiry_date = clock.now() + 60 * minute;
      }
      return new Headers({ authorization: `Bearer ${token}` });
    },
  };
  return client as unknown as AuthClient;
}

function credentialsOf(clock: FakeClock, fetchToken: (count: number) => Promise<string>): GoogleCredentials {
  return new GoogleCredentials({
    access: "write",
    clock,
    findClient: () => Promise.resolve(clientOf(clock, fetchToken)),
  });
}

const tokenOf = async (source: TokenSource) => (await source.headers())["authorization"];
const failureOf = async (source: TokenSource): Promise<OutlastError> =>
  (await source.headers().then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error,
  )) as OutlastError;

describe("an access token", () => {
  it("is fetched once for many requests, and renewed five minutes before its end", async () => {
    const clock = new FakeClock();
    const source = credentialsOf(clock, (count) => Promise.resolve(`t${count}`));
    expect(await Promise.all([tokenOf(source), tokenOf(source)])).toEqual(["Bearer t1", "Bearer t1"]);
    await clock.advance(54 * minute);
    expect(await tokenOf(source)).toBe("Bearer t1");
    await clock.advance(2 * minute);
    expect(await Promise.all([tokenOf(source), tokenOf(source)])).toEqual(["Bearer t2", "Bearer t2"]);
  });

  it("is used to its end when no new one can be had, and then the failure is worth another attempt", async () => {
    const clock = new FakeClock();
    const gone = new Error("metadata server is gone");
    const source = credentialsOf(clock, (count) => (count === 1 ? Promise.resolve("t1") : Promise.reject(gone)));
    await tokenOf(source);
    await clock.advance(59 * minute);
    expect(await tokenOf(source)).toBe("Bearer t1");
    await clock.advance(minute);
    expect(await failureOf(source)).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
  });

  it("is not waited for without end", async () => {
    const clock = new FakeClock();
    const failure = failureOf(credentialsOf(clock, () => new Promise(() => {})));
    await clock.advance(21_000);
    expect(await failure).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
  });

  it("is fetched anew after the server refused it, once", async () => {
    const server = await startScripted((request, response) => {
      if (request.headers.authorization === "Bearer t2") answering(200, {})(request, response);
      else refusing(401, "Invalid Credentials")(request, response);
    });
    const clock = new FakeClock(Date.now());
    const open = (tokens: TokenSource) =>
      openBucketStore(parseBucketUrl(`gs://bkt?endpoint=${server.url}`), { access: "read", tokens, clock });
    let count = 0;
    const fetchToken = () => Promise.resolve(`t${(count += 1)}`);
    await open(credentialsOf(clock, fetchToken)).check();
    expect(server.seen).toHaveLength(2);
    const never = openBucketStore(parseBucketUrl(`gs://bkt?endpoint=${server.url}`), {
      access: "read",
      clock,
      tokens: credentialsOf(clock, fetchToken),
    });
    await expect(never.check()).rejects.toMatchObject({ code: "OUTLAST_STORE_DENIED" });
    expect(server.seen).toHaveLength(4);
    await server.stop();
  });
});

/** Google's own library, with the environment of a machine we make up. */
describe("Google's default credentials", () => {
  let home: string;
  beforeEach(async () => {
    const { gcpMetadata } = await import("google-auth-library");
    gcpMetadata.setGCPResidency(false);
    home = await mkdtemp(join(tmpdir(), "outlast-adc-"));
    for (const name of ["GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_IP", "GOOGLE_CLOUD_QUOTA_PROJECT"]) {
      vi.stubEnv(name, undefined);
    }
    vi.stubEnv("CLOUDSDK_CONFIG", home);
    vi.stubEnv("METADATA_SERVER_DETECTION", "none");
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(home, { recursive: true, force: true });
  });

  async function onMachine(script: Script, act: (source: GoogleCredentials) => Promise<void>): Promise<void> {
    const metadata = await startScripted((request, response) => {
      response.setHeader("metadata-flavor", "Google");
      script(request, response);
    });
    vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
    vi.stubEnv("GCE_METADATA_HOST", metadata.url.slice("http://".length));
    try {
      await act(new GoogleCredentials({ access: "write", clock: systemClock }));
    } finally {
      await metadata.stop();
    }
  }

  async function withKey(answer: () => Response): Promise<{ source: GoogleCredentials; asked: string[] }> {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = {
      type: "service_account",
      client_email: "trainer@proj.iam.gserviceaccount.com",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    };
    const file = join(home, "key.json");
    await writeFile(file, JSON.stringify(key));
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
    const asked: string[] = [];
    const fetchImplementation = (url: string | URL | Request) => {
      asked.push(String(url instanceof Request ? url.url : url));
      return Promise.resolve(answer());
    };
    const source = new GoogleCredentials({
      access: "write",
      clock: systemClock,
      findClient: (scope) => findDefaultClient(scope, { transporterOptions: { fetchImplementation } }),
    });
    return { source, asked };
  }

  it("come from the metadata server of the machine or pod, and open a store", async () => {
    const script = answering(200, { access_token: "ya29.machine", expires_in: 3600, token_type: "Bearer" });
    await onMachine(script, async (source) => {
      expect(await tokenOf(source)).toBe("Bearer ya29.machine");
      const server = await startFakeGcs();
      await server.createBucket("bkt");
      const place = parseBucketUrl(`gs://bkt/p?endpoint=${server.url}`);
      await openBucketStore(place, { access: "write", tokens: source }).put("a", Buffer.from("x"));
      expect(server.bucket("bkt").names()).toEqual(["p/a"]);
      await server.stop();
    });
  });

  it("carry the project that pays, where one is named", async () => {
    vi.stubEnv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer");
    const script = answering(200, { access_token: "ya29.machine", expires_in: 3600, token_type: "Bearer" });
    await onMachine(script, async (source) => {
      expect(await source.headers()).toMatchObject({ "x-goog-user-project": "payer" });
    });
  });

  it("are worth another attempt while the metadata server fails, and come when it does no longer", async () => {
    let isWell = false;
    const script: Script = (request, response) => {
      const answer = isWell
        ? answering(200, { access_token: "ya29.late", expires_in: 3600, token_type: "Bearer" })
        : answering(500, "GKE Metadata Server: Internal Server Error", { "x-fail": "1" });
      answer(request, response);
    };
    await onMachine(script, async (source) => {
      expect(await failureOf(source)).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE", recovery: "retry" });
      isWell = true;
      expect(await tokenOf(source)).toBe("Bearer ya29.late");
    });
  });

  it("are looked for again, where there was no metadata server yet", async () => {
    const source = new GoogleCredentials({ access: "write", clock: systemClock });
    vi.stubEnv("METADATA_SERVER_DETECTION", "ping-only");
    vi.stubEnv("GCE_METADATA_HOST", `127.0.0.1:${await freePort()}`);
    expect(await failureOf(source)).toMatchObject({ code: "OUTLAST_STORE_DENIED" });
    const script = answering(200, { access_token: "ya29.new", expires_in: 3600, token_type: "Bearer" });
    await onMachine(script, async () => {
      vi.stubEnv("METADATA_SERVER_DETECTION", "ping-only");
      expect(await tokenOf(source)).toBe("Bearer ya29.new");
    });
  });

  it("name Workload Identity where the pod's account may not have a token", async () => {
    const script = answering(403, "Unable to generate access token; IAM returned 403 Forbidden: Permission denied");
    await onMachine(script, async (source) => {
      const error = await failureOf(source);
      expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up" });
      expect(error.message).toContain("IAM returned 403");
      expect(error.hint).toMatch(/Workload Identity.*roles\/storage\.objectUser/);
    });
  });

  it("say where they were looked for when there are none", async () => {
    const error = await failureOf(new GoogleCredentials({ access: "read", clock: systemClock }));
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up" });
    for (const part of ["GOOGLE_APPLICATION_CREDENTIALS", "application_default_credentials.json", "metadata server"]) {
      expect(error.message).toContain(part);
    }
  });

  it("come from a service account's key file", async () => {
    const { source, asked } = await withKey(() => Response.json({ access_token: "ya29.key", expires_in: 3600 }));
    expect(await tokenOf(source)).toBe("Bearer ya29.key");
    expect(asked).toEqual(["https://oauth2.googleapis.com/token"]);
  });

  it.each([
    [
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.",
      /clock is off/,
      /set the clock/,
    ],
    ["Invalid JWT Signature.", /Invalid JWT Signature/, /key may have been deleted/],
    ["reauth related error (invalid_rapt)", /login that gcloud keeps has ended/, /application-default login/],
  ])("are refused with invalid_grant: %s", async (description, message, hint) => {
    const refusal = { error: "invalid_grant", error_description: description };
    const { source } = await withKey(() => Response.json(refusal, { status: 400 }));
    const error = await failureOf(source);
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up" });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    // Neither the signed assertion nor the key may travel in an error.
    expect(error.cause).toBeUndefined();
    expect(`${error.message} ${error.stack}`).not.toMatch(/eyJ|PRIVATE KEY|assertion=/);
  });

  it.each([
    ["is not there", undefined],
    ["is not JSON", "{"],
    ["is of an unknown kind", '{"type":"mystery"}'],
  ])("name the key file that %s", async (_, content) => {
    const file = join(home, "bad.json");
    if (content !== undefined) await writeFile(file, content);
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
    const error = await failureOf(new GoogleCredentials({ access: "write", clock: systemClock }));
    expect(error).toMatchObject({ code: "OUTLAST_STORE_DENIED", recovery: "give-up" });
    expect(error.hint).toContain("GOOGLE_APPLICATION_CREDENTIALS");
  });
});
