import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { systemCode } from "../../core/index.ts";
import { type Mount, mountOf, parseMounts } from "./mounts.ts";

/** A Cloud Storage bucket that is mounted as a directory. */
export interface BucketMount {
  /** Where it is mounted. */
  readonly point: string;
  /** The bucket; undefined where the list of mounts does not tell. */
  readonly bucket: string | undefined;
  /** `gs://BUCKET/PATH` of the path asked for, as far as the list of mounts tells: a folder given with `--only-dir` is not in it. */
  readonly address: string | undefined;
}

/** Where Linux lists the mounts that this process sees. */
export const systemMountinfo = "/proc/self/mountinfo";

/** Fuse mounts of other programs that give no name of their own but stand in the list like a bucket's. */
const otherPrograms = /^(?:mountpoint-s3|s3fs|goofys|rclone|fuse|lxcfs|overlay)$/;
const bucketName = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/;
/** What stands where the bucket's name would when one mount shows all buckets, each as a folder. */
const allBuckets = new Set(["gcsfuse", "_"]);

/** The bucket mount that holds a path, links followed, whether it exists yet or not; undefined when it is on any other file system. */
export async function findBucketMount(
  path: string,
  mountinfo: string = systemMountinfo,
): Promise<BucketMount | undefined> {
  let text: string;
  try {
    text = await readFile(mountinfo, "utf8");
  } catch {
    // No such list on this system, and no gcsfuse either.
    return undefined;
  }
  const real = await resolveLinks(path);
  const mount = mountOf(real, parseMounts(text));
  return mount && isBucketMount(mount) ? describe(mount, real) : undefined;
}

/**
 * Whether a mount is a Cloud Storage bucket seen through gcsfuse: no links, and nothing durable before a file is closed. Mounted by hand, its type is
 * `fuse.gcsfuse`; GKE's driver mounts it as plain `fuse` from a source that is the bucket's name.
 */
function isBucketMount(mount: Mount): boolean {
  if (mount.type === "fuse.gcsfuse") return true;
  if (mount.type !== "fuse" || otherPrograms.test(mount.source)) return false;
  return allBuckets.has(mount.source) || mount.source.includes("gcsfuse") || bucketName.test(mount.source);
}

/** The real path; what does not exist yet is taken as it is written. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" || path === dirname(path)) throw error;
    return join(await resolveLinks(dirname(path)), basename(path));
  }
}

function describe(mount: Mount, path: string): BucketMount {
  const below = [...mount.root.split("/"), ...relative(mount.point, path).split("/")].filter((part) => part !== "");
  const parts = allBuckets.has(mount.source) ? below : [mount.source, ...below];
  const bucket = parts[0];
  const isNamed = bucket !== undefined && bucketName.test(bucket);
  return {
    point: mount.point,
    bucket: isNamed ? bucket : undefined,
    address: isNamed ? `gs://${parts.join("/")}` : undefined,
  };
}
