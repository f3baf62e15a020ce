import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import { mountOf, parseMounts } from "../../storage/index.ts";

/** Types of `/proc/self/mountinfo` whose files more than one machine, or a program of its own, serves. */
const unsafe =
  /^(nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|lustre|gpfs|beegfs|orangefs|glusterfs|ocfs2|gfs2|vboxsf|vmhgfs|virtiofs|prl_fs|fuse|fuseblk|fuse\..+)$/;

/**
 * Finds where the file really is and refuses what SQLite cannot share: its write-ahead log needs memory that all processes of one
 * host see, and locks that hold.
 */
export async function requireLocalFile(path: string, mountinfo = "/proc/self/mountinfo"): Promise<string> {
  const real = await realFile(path);
  const mounts = await readMounts(mountinfo);
  const mount = mountOf(real, mounts);
  if (!mount || !unsafe.test(mount.type)) return real;
  throw new OutlastError("OUTLAST_DATABASE_UNSUITABLE", `${path} is on a ${mount.type} file system (${mount.point})`, {
    operation: "open",
    target: path,
    hint: "SQLite files are safe on a local disk only; for several machines use postgres://… or pubsub://…",
  });
}

async function realFile(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isFile()) return real;
    throw unsuitable(path, `${path} is not a file`, "name a file; outlast makes it");
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  try {
    return join(await realpath(dirname(path)), basename(path));
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT" && systemCode(cause) !== "ENOTDIR") throw cause;
    const hint = "create it, or mount the volume it is on, then start again";
    throw unsuitable(path, `the directory ${dirname(path)} does not exist`, hint);
  }
}

async function readMounts(mountinfo: string): Promise<ReturnType<typeof parseMounts>> {
  try {
    return parseMounts(await readFile(mountinfo, "utf8"));
  } catch {
    // No such list on this system: nothing can be known.
    return [];
  }
}

function unsuitable(path: string, message: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_DATABASE_UNSUITABLE", message, { operation: "open", target: path, hint });
}
