import { execFile } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { preferredHash } from "../src/checkpoint/hash.ts";
import type { createTransfer } from "../src/checkpoint/transfer/index.ts";
import type { openStore } from "../src/storage/index.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Compiles the package as it is published, to a folder that still finds its dependencies. */
export async function buildPackage(): Promise<string> {
  const folder = join(root, "node_modules/.cache/outlast-bench/dist");
  await mkdir(folder, { recursive: true });
  await copyFile(join(root, "package.json"), join(folder, "../package.json"));
  await promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.build.json", "--outDir", folder], {
    cwd: root,
  });
  return folder;
}

/** What the children use of the compiled package. */
export interface Build {
  readonly createTransfer: typeof createTransfer;
  readonly openStore: typeof openStore;
  readonly preferredHash: typeof preferredHash;
}

/** Loads the compiled package. */
export async function loadBuild(folder: string): Promise<Build> {
  const parts = ["checkpoint/transfer/index.js", "storage/index.js", "checkpoint/hash.js"];
  const modules = await Promise.all(
    parts.map((part) => import(pathToFileURL(join(folder, part)).href) as Promise<object>),
  );
  return Object.assign({}, ...modules) as Build;
}
