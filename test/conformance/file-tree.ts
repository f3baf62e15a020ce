import { lstat, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile, chmod } from "node:fs/promises";
import { join } from "node:path";
import type { ManifestEntry } from "../../src/checkpoint/manifest.ts";
import { decodeName, encodePath } from "../../src/checkpoint/path-bytes.ts";
import type { SourceFile } from "../../src/checkpoint/transfer/index.ts";

/** A file tree by path: bytes, a link's target, or null for a folder. */
export type Tree = ReadonlyMap<string, Uint8Array | { readonly link: string } | null>;

/** Writes a tree below a folder that is there. */
export async function writeTree(root: string, tree: Tree): Promise<void> {
  for (const [path, content] of [...tree].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const target = encodePath(`${root}/${path}`);
    const slash = path.lastIndexOf("/");
    if (slash > 0) await mkdir(encodePath(`${root}/${path.slice(0, slash)}`), { recursive: true });
    if (content === null) await mkdir(target, { recursive: true });
    else if (content instanceof Uint8Array) {
      await writeFile(target, content);
      await chmod(target, path.length % 2 ? 0o640 : 0o755);
      await utimes(target, 1_700_000_000 + path.length, 1_700_000_000.5 + path.length);
    } else await symlink(encodePath(content.link), target);
  }
}

/** Everything below a folder, with modes and times, for comparing two of them. */
export async function readTree(root: string): Promise<Map<string, unknown>> {
  const seen = new Map<string, unknown>();
  const visit = async (folder: string): Promise<void> => {
    const names = await readdir(encodePath(join(root, folder)), { encoding: "buffer" });
    for (const name of names.map(decodeName).sort()) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const at = encodePath(`${root}/${path}`);
      const stat = await lstat(at);
      if (stat.isSymbolicLink()) seen.set(path, { link: decodeName(await readlink(at, { encoding: "buffer" })) });
      else if (stat.isDirectory()) {
        seen.set(path, { mode: stat.mode & 0o7777 });
        await visit(path);
      } else {
        const bytes = (await readFile(at)).toString("latin1");
        seen.set(path, { mode: stat.mode & 0o7777, mtimeMs: Math.round(stat.mtimeMs), bytes });
      }
    }
  };
  await visit("");
  return seen;
}

/** What a snapshot of a folder would hand to a transfer: files to send, and the folders and links beside them. */
export async function describeTree(root: string): Promise<{ files: SourceFile[]; others: ManifestEntry[] }> {
  const files: SourceFile[] = [];
  const others: ManifestEntry[] = [];
  const visit = async (folder: string): Promise<void> => {
    const names = await readdir(encodePath(join(root, folder)), { encoding: "buffer" });
    for (const name of names.map(decodeName)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const source = encodePath(`${root}/${path}`);
      const stat = await lstat(source);
      const mode = stat.mode & 0o7777;
      if (stat.isSymbolicLink()) {
        others.push({ type: "link", path, target: decodeName(await readlink(source, { encoding: "buffer" })) });
      } else if (stat.isDirectory()) {
        others.push({ type: "directory", path, mode });
        await visit(path);
      } else {
        const { size, mtimeMs, ino, ctimeMs, nlink } = stat;
        files.push({ path, source, size, mode, mtimeMs, guard: { ino, mtimeMs, ctimeMs, nlink } });
      }
    }
  };
  await visit("");
  return { files, others };
}
