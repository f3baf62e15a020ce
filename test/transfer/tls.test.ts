import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTransfer } from "../../src/checkpoint/transfer/index.ts";
import { MemoryStore } from "../../src/storage/index.ts";
import { describeTree, readTree } from "../conformance/file-tree.ts";
import { type FakeGcs, startFakeGcs } from "../servers/fake-gcs/index.ts";
import { needs } from "../support/need.ts";
import { manifestOf } from "./manifest-of.ts";

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    // Not installed: the test is skipped, and says so.
    return false;
  }
}

describe.skipIf(!needs("openssl", hasOpenssl(), "install openssl"))("a restore over https", () => {
  let folder: string;
  let server: FakeGcs;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "outlast-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
    const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync("openssl", [...how, "-keyout", key, "-out", cert, ...name], { stdio: "ignore" });
    server = await startFakeGcs({ tls: { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") } });
    await server.createBucket("bkt");
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("spreads its chunks over threads, each with its own connections", { timeout: 60_000 }, async () => {
    const source = join(folder, "source");
    await mkdir(source);
    await writeFile(join(source, "model"), randomBytes(64 * 1024 * 1024));
    const { files } = await describeTree(source);
    const transfer = createTransfer({ inline: true });
    const memory = new MemoryStore();
    const request = { store: memory, prefix: "a/", hash: "blake3" as const, owner: "1-1", files, reusable: new Map() };
    const manifest = manifestOf(await transfer.send(request));
    await transfer.close();
    for (const [key, bytes] of memory.objects) server.bucket("bkt").put(`runs/${key}`, Buffer.from(bytes));
    await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
    const into = join(folder, "restored");
    const child = fileURLToPath(new URL("./restore-child.ts", import.meta.url));
    const url = "gs://bkt/runs";
    const { stdout } = await promisify(execFile)(process.execPath, [child, url, join(folder, "manifest.json"), into], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "cert.pem"), STORAGE_EMULATOR_HOST: server.url },
    });
    expect(await readTree(into)).toEqual(await readTree(source));
    const chunks = JSON.parse(stdout) as number[];
    expect(chunks).toHaveLength(2);
    // Work is given to whoever has least in hand; neither may have sat idle.
    expect(Math.min(...chunks)).toBeGreaterThanOrEqual(2);
  });
});
