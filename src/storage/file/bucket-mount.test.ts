import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBucketMount } from "./bucket-mount.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-mounts-"));
  await mkdir(join(folder, "mnt/deep"), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What is found for a path below `folder` when `mnt` there is mounted as told. */
async function find(mount: string, path = "mnt/deep"): Promise<string | undefined> {
  const mountinfo = join(folder, "mountinfo");
  const [root, type, source] = mount.split(" ");
  const line = `41 22 0:40 ${root} ${folder}/mnt rw,nosuid - ${type} ${source} rw,user_id=0`;
  await writeFile(mountinfo, `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n${line}\n`);
  const found = await findBucketMount(join(folder, path), mountinfo);
  return found && `${found.bucket} ${found.address}`;
}

describe("a bucket mounted as a directory", () => {
  it("is told by the type that gcsfuse gives, and by GKE's driver's plain one", async () => {
    expect(await find("/ fuse.gcsfuse my-bucket")).toBe("my-bucket gs://my-bucket/deep");
    expect(await find("/ fuse my-bucket")).toBe("my-bucket gs://my-bucket/deep");
  });

  it("is not seen in other file systems", async () => {
    for (const other of [
      "ext4 /dev/vdb",
      "nfs4 server:/x",
      "fuse.sshfs host:",
      "fuse.s3fs my-bucket",
      "fuse /dev/fuse",
    ])
      expect(await find(`/ ${other}`), other).toBeUndefined();
    expect(await find("/ fuse mountpoint-s3")).toBeUndefined();
    expect(await find("/ fuse.gcsfuse my-bucket", "elsewhere")).toBeUndefined();
  });

  it("is found through links, for what does not exist yet, and with the folder that a bind mount shows", async () => {
    await symlink(join(folder, "mnt/deep"), join(folder, "link"));
    expect(await find("/ fuse.gcsfuse my-bucket", "link/run")).toBe("my-bucket gs://my-bucket/deep/run");
    expect(await find("/ fuse.gcsfuse my-bucket", "mnt/a/b/c")).toBe("my-bucket gs://my-bucket/a/b/c");
    expect(await find("/ fuse.gcsfuse my-bucket", "mnt")).toBe("my-bucket gs://my-bucket");
    expect(await find("/team/a fuse my-bucket")).toBe("my-bucket gs://my-bucket/team/a/deep");
  });

  it("takes the first folder as the bucket where one mount shows all of them", async () => {
    expect(await find("/ fuse.gcsfuse gcsfuse")).toBe("deep gs://deep");
    expect(await find("/ fuse _", "mnt/deep/x")).toBe("deep gs://deep/x");
    expect(await find("/ fuse.gcsfuse gcsfuse", "mnt")).toBe("undefined undefined");
  });

  it("is nothing where there is no list of mounts", async () => {
    expect(await findBucketMount(folder, join(folder, "none"))).toBeUndefined();
  });
});
