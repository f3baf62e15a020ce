import { lstat, open, readdir, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import { decodeName, encodePath } from "../path-bytes.ts";

const sliceBytes = 4 << 20;

/** Writes a new file from beginning to end, as a mounted bucket wants it, and closes it: only then is it stored. */
export async function copyInOrder(from: string, to: string): Promise<void> {
  const source = await open(encodePath(from), "r");
  try {
    const target = await open(encodePath(to), "wx");
    let size = 0;
    try {
      const buffer = Buffer.allocUnsafe(sliceBytes);
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, sliceBytes, size);
        if (bytesRead === 0) break;
        for (let at = 0; at < bytesRead; ) {
          at += (await target.write(buffer, at, bytesRead - at, size + at)).bytesWritten;
        }
        size += bytesRead;
      }
    } finally {
      // The upload ends here, and so does its failure.
      await target.close();
    }
    const stored = await lstat(encodePath(to));
    if (stored.size !== size) throw cut(to, stored.size, size);
  } finally {
    await source.close();
  }
}

/** Moves a file or link. Renaming is one request where the bucket can do it; where not, the file is copied first and deleted then. */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(encodePath(from), encodePath(to));
    return;
  } catch {
    // Whatever was in the way of renaming: copying finds out whether it is in the way of everything.
  }
  const stats = await lstat(encodePath(from)).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (!stats) return;
  if (stats.isSymbolicLink()) await symlink(await readlink(encodePath(from), "buffer"), encodePath(to));
  else {
    // What a failed rename may have left.
    await rm(encodePath(to), { force: true });
    await copyInOrder(from, to);
  }
  await rm(encodePath(from));
}

/** Everything below a folder, folders after what they hold; a file is itself. Paths are relative to `dir`. */
export async function listBelow(
  dir: string,
  path: string,
): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] }> {
  const files: string[] = [];
  const folders: string[] = [];
  const visit = async (at: string): Promise<void> => {
    const stats = await lstat(encodePath(join(dir, at)));
    if (!stats.isDirectory()) {
      files.push(at);
      return;
    }
    for (const name of await readdir(encodePath(join(dir, at)), { encoding: "buffer" })) {
      await visit(`${at}/${decodeName(name)}`);
    }
    folders.push(at);
  };
  await visit(path);
  return { files, folders };
}

/** Removes an empty folder; one that was only implied by its files is gone with them. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rmdir(encodePath(path));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

function cut(path: string, seen: number, wanted: number): OutlastError {
  return new OutlastError("OUTLAST_FILE_FAILED", `${path} has ${seen} bytes where ${wanted} were written`, {
    operation: "write",
    target: path,
    recovery: "retry",
    hint: "check the mount of the checkpoint directory",
  });
}
