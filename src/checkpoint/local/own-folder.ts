import { createHash } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import { type BucketMount, findBucketMount } from "../../storage/index.ts";
import { ownFolder } from "../detect/index.ts";

/** Paths of the supervisor's own folder inside the checkpoint directory; inside, so that renames into place stay on one file system. */
export interface OwnFolder {
  /** The folder itself. */
  readonly root: string;
  /** Set when the checkpoint directory is a mounted Cloud Storage bucket: no links, no renames of folders, nothing safe before it is closed. */
  readonly bucket: BucketMount | undefined;
  /** What the directory's content is based on. */
  readonly note: string;
  /** Where a restore is put together; for a mounted bucket a folder on a local disk. */
  readonly stage: string;
  /** Links to the files of the checkpoint being shipped. */
  readonly snapshot: string;
  /** What was moved out of the way; never deleted by us. */
  readonly aside: string;
}

/** Makes the folder and clears what a killed start left half done in it. */
export async function openOwnFolder(dir: string): Promise<OwnFolder> {
  const root = join(dir, ownFolder);
  const bucket = await findBucketMount(dir).catch((error: unknown) => {
    throw dirError(dir, error);
  });
  const folder = {
    root,
    bucket,
    note: join(root, "note.json"),
    stage: bucket ? localStage(dir) : join(root, "stage"),
    snapshot: join(root, "snapshot"),
    aside: join(root, "aside"),
  };
  try {
    // Not recursive: that would make the checkpoint directory too, and hide a mistyped --dir.
    await mkdir(root).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") throw error;
    });
    await rm(folder.stage, { recursive: true, force: true });
    if (!bucket) await rm(folder.snapshot, { recursive: true, force: true });
  } catch (error) {
    throw dirError(dir, error);
  }
  return folder;
}

/** Its name is always the same, so that what a killed start left is found and removed. */
function localStage(dir: string): string {
  const name = createHash("sha256").update(dir).digest("hex").slice(0, 16);
  return join(tmpdir(), `outlast-stage-${process.getuid?.() ?? 0}-${name}`);
}

/** Refuses a checkpoint directory that is not there: the trainer would write elsewhere, and nothing would be kept. */
export function dirError(dir: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new OutlastError("OUTLAST_DIR_MISSING", `the checkpoint directory ${dir} does not exist`, {
      target: dir,
      cause: error,
      hint: "create it, or point --dir at where the program writes its checkpoints",
    });
  }
  if (code === "ENOTCONN") {
    return new OutlastError(
      "OUTLAST_DIR_MISSING",
      `the mount of the checkpoint directory ${dir} has lost its program`,
      {
        target: dir,
        cause: error,
        hint: "mount it again; in a pod, the Cloud Storage FUSE sidecar has died and the pod must be started anew",
      },
    );
  }
  if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
    return new OutlastError("OUTLAST_USAGE", `the checkpoint directory ${dir} cannot be written to`, {
      target: dir,
      cause: error,
      hint: "outlast restores into it and keeps a small .outlast folder there",
    });
  }
  return error;
}

/** Changes when the machine restarts; what was written without fsync before that may be torn. */
export async function bootId(): Promise<string> {
  try {
    return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  } catch {
    // Not Linux: treat every process start as a boot, so that nothing unsynced is trusted.
    return `unknown-${process.pid}`;
  }
}
