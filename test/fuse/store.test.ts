import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeGcsServer, type GcsServer } from "../servers/gcs.ts";
import { FuseMount, hasGcsfuse } from "../servers/gcsfuse.ts";
import { runOutlast } from "../support/run-outlast.ts";

describe.skipIf(!hasGcsfuse())("a store on a mounted bucket", { timeout: 60_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "outlast-fuse-"));
  let server: GcsServer;
  let mount: FuseMount;
  beforeAll(async () => {
    server = await startFakeGcsServer();
    await server.createBucket("team-checkpoints");
    mount = await FuseMount.open({
      server,
      bucket: "team-checkpoints",
      point: join(root, "mnt"),
      log: join(root, "log"),
    });
    await mkdir(join(mount.point, "runs"));
  }, 60_000);
  afterAll(async () => {
    await mount?.unmount();
    await server?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const refusal = async (path: string) => {
    const outcome = await runOutlast(["run", "--store", path, "--dir", root, "--run", "r", "--", "true"], {
      cwd: root,
    });
    expect(outcome.code, outcome.stderr).toBe(2);
    return outcome.stderr;
  };

  it("is refused with the address of the bucket", async () => {
    expect(await refusal(mount.point)).toContain("--store gs://team-checkpoints (");
    expect(await refusal(join(mount.point, "runs"))).toContain("--store gs://team-checkpoints/runs (");
  });

  it("is refused through a link, and before anything is made", async () => {
    symlinkSync(join(mount.point, "runs"), join(root, "link"));
    expect(await refusal("link/new/deeper")).toContain("--store gs://team-checkpoints/runs/new/deeper (");
    expect(readdirSync(join(mount.point, "runs"))).toEqual([]);
  });

  it("is no place to pull a checkpoint to", async () => {
    const [store, dir] = [join(root, "store"), join(root, "dir")];
    await mkdir(dir);
    const stored = await runOutlast([
      "run",
      "--store",
      store,
      "--dir",
      dir,
      "--run",
      "r",
      "--",
      "sh",
      "-c",
      `echo 1 > ${dir}/a.txt`,
    ]);
    expect(stored.code, stored.stderr).toBe(0);
    const to = join(mount.point, "pulled");
    const outcome = await runOutlast(["checkpoints", "pull", "--store", store, "--run", "r", "--to", to]);
    expect(outcome).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("mounted Cloud Storage bucket") as string,
    });
    expect(readdirSync(mount.point)).toEqual(["runs"]);
  });

  it("is refused for reading too", async () => {
    const outcome = await runOutlast(["status", "--store", join(mount.point, "runs")]);
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining("gs://team-checkpoints/runs") as string });
  });
});
