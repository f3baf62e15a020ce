import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGcs, startFakeGcs } from "../../../test/servers/fake-gcs/index.ts";
import { needs } from "../../../test/support/need.ts";

/** Which certificates a process trusts is settled when it starts, so the client is a process of its own. */
const client = `
  import { openBucketStore } from ${JSON.stringify(new URL("open-gcs-store.ts", import.meta.url).href)};
  import { parseBucketUrl } from ${JSON.stringify(new URL("../bucket-url.ts", import.meta.url).href)};
  const tokens = { headers: () => Promise.resolve({ authorization: "Bearer t" }), refused() {} };
  const store = openBucketStore(parseBucketUrl(process.argv[1]), { access: "write", tokens });
  const body = Buffer.alloc(4 << 20, 3);
  try {
    await Promise.all([1, 2, 3].map((i) => store.put("k" + i, body)));
    const same = await Promise.all([1, 2, 3].map(async (i) => Buffer.compare(await store.get("k" + i), body) === 0));
    const controller = new AbortController();
    const cut = store.put("cut", Buffer.alloc(64 << 20), { signal: controller.signal }).catch((error) => error.message);
    setTimeout(() => controller.abort(new Error("stopped")), 10);
    console.log(JSON.stringify({ same, cut: await cut }));
  } catch (error) {
    console.log(JSON.stringify({ code: error.code, recovery: error.recovery, hint: error.hint }));
  }
`;

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    // Not installed: the test is skipped, and says so.
    return false;
  }
}

function runClient(url: string, env: Record<string, string>): Promise<unknown> {
  const args = ["--input-type=module", "--no-warnings", "--eval", client, url];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (part: Buffer) => {
    output += part.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(JSON.parse(output)));
  });
}

describe.skipIf(!needs("openssl", hasOpenssl(), "install openssl"))("over TLS", () => {
  let folder: string;
  let server: FakeGcs;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "outlast-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
    const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync("openssl", [...how, "-keyout", key, "-out", cert, ...name], { stdio: "ignore" });
    server = await startFakeGcs({ tls: { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") } });
    await server.createBucket("bkt");
    url = `gs://bkt/p?endpoint=${server.url}`;
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("writes, reads and stops like over plain HTTP", async () => {
    const seen = await runClient(url, { NODE_EXTRA_CA_CERTS: join(folder, "cert.pem") });
    expect(seen).toEqual({ same: [true, true, true], cut: "stopped" });
  });

  it("trusts no certificate that nobody vouches for, and says what to do", async () => {
    const seen = await runClient(url, {});
    expect(seen).toMatchObject({ code: "OUTLAST_STORE_FAILED", recovery: "give-up" });
    expect((seen as { hint: string }).hint).toContain("NODE_EXTRA_CA_CERTS");
  });
});
