import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openRun } from "../../src/checkpoint/index.ts";
import { warnWhenApart } from "../../src/cli/warn-when-apart.ts";
import { createLogger } from "../../src/core/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "../protocol/machine.ts";
import { type GcsServer, hasFakeGcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { type OutlastProcess, startOutlast } from "../support/outlast-process.ts";

// Processes of ours and a server: on a busy machine they need their time.
vi.setConfig({ testTimeout: 120_000 });

describe.skipIf(!hasFakeGcsServer())("a bucket in us-central1", () => {
  let gcs: GcsServer;
  let store: string;
  let metadata: Server;
  let zone: string | undefined;
  let cwd: string;

  beforeAll(async () => {
    gcs = await startFakeGcsServer();
    store = await gcs.createBucket("regions");
    Object.assign(process.env, gcs.env);
    metadata = createServer((request, response) => {
      // Without a zone it is a server that takes the question and never answers.
      if (zone !== undefined && request.url?.endsWith("/instance/zone")) response.end(`projects/1/zones/${zone}`);
    });
    await new Promise<void>((resolve) => metadata.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    metadata.closeAllConnections();
    metadata.close();
    await gcs.stop();
  });
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), "outlast-region-"));
    await mkdir(join(cwd, "ckpt"));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));

  const metadataHost = () => `127.0.0.1:${(metadata.address() as AddressInfo).port}`;
  const start = (script: string): OutlastProcess =>
    startOutlast(
      ["run", "--store", store, "--run", "r", "--dir", "ckpt", "--notice", "signal", "--log-format", "json"].concat([
        "--",
        "sh",
        "-c",
        script,
      ]),
      { cwd, env: { ...gcs.env, GCE_METADATA_HOST: metadataHost() } },
    );
  const warnings = (log: string) =>
    log
      .split("\n")
      .filter((line) => line.includes("another region"))
      .map((line) => JSON.parse(line) as unknown);

  /** What is said about a run, asked in this process. */
  async function said(run: string, region?: string): Promise<unknown[]> {
    let log = "";
    const logger = createLogger({
      write: (line) => {
        log += line;
      },
      format: "json",
      now: () => 0,
    });
    const bucket = openRun(await openStore(store, { access: "read" }), run);
    const env = { GCE_METADATA_HOST: metadataHost() };
    await warnWhenApart(bucket, region, { logger, env }, new AbortController().signal);
    return warnings(log);
  }

  const apart = { severity: "WARNING", machine: "europe-west4", bucket: "us-central1" };

  test("one warning with both names and the cost: per GB at first, per checkpoint once there is one", async () => {
    zone = "europe-west4-b";
    expect(await said("r")).toMatchObject([{ ...apart, estimate: "about $0.08 per GB, each way" }]);
    const memory = new MemoryStore();
    const machine = new Machine(memory);
    await machine.start();
    await machine.commit(1, { weights: "few" });
    const bucket = await openStore(store, { access: "write" });
    for (const [key, body] of memory.objects) await bucket.put(key.replace("r/", "saved/"), body);
    const estimate = "less than $0.01 per checkpoint of less than 0.1 GB, each way";
    expect(await said("saved")).toMatchObject([{ ...apart, estimate }]);
  });

  test("nothing where both are together; --region counts more than the metadata server", async () => {
    zone = "europe-west4-b";
    expect(await said("r", "us-central1")).toEqual([]);
    zone = "us-central1-a";
    expect(await said("r")).toEqual([]);
    expect(await said("r", "us-east1")).toMatchObject([{ machine: "us-east1", bucket: "us-central1" }]);
  });

  test("nothing where the bucket's server cannot be asked", async () => {
    zone = "europe-west4-b";
    const gone = openRun(new MemoryStore("gs://nowhere/runs"), "r");
    const logger = createLogger({ write: () => expect.unreachable(), format: "json", now: () => 0 });
    const env = { GCE_METADATA_HOST: metadataHost() };
    await warnWhenApart(gone, undefined, { logger, env }, new AbortController().signal);
  });

  test("`outlast run` says it once, while the program is at work", async () => {
    zone = "europe-west4-b";
    const run = start("sleep 30");
    await run.says("another region");
    run.kill("SIGTERM");
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(75);
    expect(warnings(stderr)).toMatchObject([apart]);
  });

  test("a metadata server that never answers neither delays the program nor changes how it ends", async () => {
    zone = undefined;
    const { code, stdout, stderr } = await start("echo at work; exit 3").ended;
    expect(code, stderr).toBe(3);
    expect(stdout).toBe("at work\n");
    expect(warnings(stderr)).toEqual([]);
  });
});
