import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GcsServer, hasFakeGcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { hasVersitygw, type S3Server, startVersitygw } from "../servers/s3.ts";
import { startOutlast } from "../support/outlast-process.ts";

describe.skipIf(!hasFakeGcsServer() || !hasVersitygw())(
  "a bucket through the command line",
  { timeout: 60_000 },
  () => {
    const root = mkdtempSync(join(tmpdir(), "outlast-bucket-cli-"));
    let gcs: GcsServer;
    let s3: S3Server;
    beforeAll(async () => {
      [gcs, s3] = await Promise.all([startFakeGcsServer(), startVersitygw()]);
    });
    afterAll(async () => {
      await Promise.all([gcs.stop(), s3.stop()]);
      rmSync(root, { recursive: true, force: true });
    });

    test.for(["gs", "s3"] as const)(
      "%s: one that is not there is named, with what to do, and exits 2",
      async (kind) => {
        const store = kind === "gs" ? "gs://no-such-bucket/runs" : `s3://no-such-bucket/runs?endpoint=${s3.url}`;
        const env = kind === "gs" ? gcs.env : s3.env;
        const { code, stdout, stderr } = await startOutlast(
          ["run", "--store", store, "--dir", root, "--run", "r", "--", "touch", join(root, "started")],
          { env: { ...env } },
        ).ended;
        expect(stdout).toBe("");
        expect(stderr).toMatch(/^error: .*no-such-bucket/m);
        expect(stderr).toMatch(/^hint: /m);
        expect(code).toBe(2);
      },
    );

    test.for(["gs", "s3"] as const)("%s: a run is stored, told of and verified", async (kind) => {
      const server = kind === "gs" ? gcs : s3;
      const store = await server.createBucket(`cli-${kind}-bucket`);
      const dir = mkdtempSync(join(root, "dir-"));
      const save =
        "mkdir $D/checkpoint-3; echo weights > $D/checkpoint-3/w.txt; echo {} > $D/checkpoint-3/trainer_state.json";
      const env = { ...server.env, D: dir };
      const outlast = (...args: readonly string[]) => startOutlast(args, { env }).ended;
      const ran = await outlast("run", "--store", store, "--dir", dir, "--run", "r", "--", "sh", "-c", save);
      expect(ran.code, ran.stderr).toBe(0);
      const status = await outlast("status", "--store", store);
      expect(status.stdout).toContain("r");
      const listed = await outlast("checkpoints", "list", "--store", store, "--run", "r", "--json");
      expect(JSON.parse(listed.stdout)).toMatchObject({ checkpoints: [{ step: 3, state: "good" }] });
      const verified = await outlast("checkpoints", "verify", "--store", store, "--run", "r");
      expect(verified.code, verified.stderr).toBe(0);
    });
  },
);
