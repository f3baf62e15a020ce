import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isOutlastError, OutlastError, randomId, systemCode } from "../../core/index.ts";
import { setAddress } from "../store-address.ts";
import { Aside, type LinkCall } from "./aside.ts";
import { findBucketMount, systemMountinfo } from "./bucket-mount.ts";
import { syncFolder } from "./durable-folders.ts";
import { FileStore } from "./file-store.ts";
import { storeError } from "./system-error.ts";

/** How {@link openFileStore} opens. */
export interface FileStoreOptions {
  /** `read` creates nothing and needs no write permission. */
  readonly access: "read" | "write";
  /** Stands in for `link()` in tests. */
  readonly link?: LinkCall;
  /** Where the mounts are listed. @default "/proc/self/mountinfo" */
  readonly mountinfo?: string;
}

/** Opens a directory as a store, after checking that it can keep the store's promises. */
export async function openFileStore(url: string, path: string, options: FileStoreOptions): Promise<FileStore> {
  const root = resolve(path);
  const aside = new Aside(root, options.link);
  const isWritable = options.access === "write";
  try {
    // First of all, so that nothing is left in the bucket.
    await refuseBucketMount(root, options.mountinfo ?? systemMountinfo);
    await requireDirectory(root, isWritable);
    if (isWritable) await probe(aside, root);
  } catch (error) {
    throw isOutlastError(error) ? error : storeError(error, "open", root);
  }
  return setAddress(new FileStore(url, root, aside, isWritable), { kind: "folder", root });
}

/** The store's own folder is created, but not its parents: a missing parent is a typo or a volume that is not mounted. */
async function requireDirectory(root: string, mayCreate: boolean): Promise<void> {
  try {
    if ((await stat(root)).isDirectory()) return;
    throw new OutlastError("OUTLAST_STORE_UNSUITABLE", `the store ${root} is not a directory`, {
      operation: "open",
      target: root,
      hint: "give a directory as the store",
    });
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  if (!mayCreate) throw missing(root, "give the directory that `outlast run --store` was given");
  try {
    await mkdir(root);
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      throw missing(dirname(root), "create it, or mount the volume it is on, then start again");
    }
    // Another start created it at the same moment.
    if (systemCode(error) !== "EEXIST") throw error;
  }
  await syncFolder(dirname(root));
}

function missing(path: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_DIR_MISSING", `the store's directory ${path} does not exist`, {
    operation: "open",
    target: path,
    hint,
  });
}

async function refuseBucketMount(root: string, mountinfo: string): Promise<void> {
  const mount = await findBucketMount(root, mountinfo);
  if (!mount) return;
  const { address, bucket, point } = mount;
  // What --only-dir leaves out is not to be seen from here.
  const onlyDir =
    bucket === undefined ? "" : ` (if ${point} was mounted with --only-dir DIR, DIR comes after gs://${bucket}/)`;
  throw new OutlastError("OUTLAST_STORE_UNSUITABLE", `the store ${root} is a Cloud Storage bucket mounted by gcsfuse`, {
    operation: "open",
    target: root,
    hint: `such a mount cannot create a file only if it is absent; name the bucket itself: --store ${address ?? "gs://BUCKET/PREFIX"}${onlyDir}`,
  });
}

/** Creates a name twice: the first must succeed and the second be refused. Everything here rests on that. */
async function probe(aside: Aside, root: string): Promise<void> {
  await aside.create(root);
  const target = join(aside.folder, `probe-${randomId()}`);
  const first = await aside.write(new Uint8Array(), () => {});
  const second = await aside.write(new Uint8Array(), () => {});
  try {
    await aside.sweep(first);
    const outcomes = [await tryLink(aside, first, target), await tryLink(aside, second, target)];
    if (outcomes[0] === "created" && outcomes[1] === "exists") return;
    throw unsuitable(root, `creating a file twice gave "${outcomes.join('", "')}" instead of "created", "exists"`);
  } finally {
    for (const path of [first, second, target]) await aside.discard(path);
  }
}

async function tryLink(aside: Aside, from: string, to: string): Promise<string> {
  try {
    return await aside.linkTo(from, to);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS" || code === "EMLINK") {
      return `link failed with ${code}`;
    }
    throw error;
  }
}

function unsuitable(root: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_STORE_UNSUITABLE", `the file system of ${root} cannot hold a store: ${what}`, {
    operation: "open",
    target: root,
    hint: "use a file system with hard links (ext4, XFS, NFS …); for a mounted bucket name the bucket itself (gs://…)",
  });
}
