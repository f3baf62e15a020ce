import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-start-"));
  await mkdir(join(dir, "ckpt"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Modules that a command line loads, as paths below the repository. */
async function loadedBy(args: readonly string[]): Promise<string[]> {
  const list = join(dir, "imports.txt");
  await writeFile(list, "");
  const preload = join(root, "test/fixtures/tell-imports.mjs");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OUTLAST_")));
  await promisify(execFile)(process.execPath, ["--import", preload, join(root, "src/cli/main.ts"), ...args], {
    cwd: dir,
    env: { ...env, TELL_IMPORTS: list },
  });
  const urls = (await readFile(list, "utf8")).trim().split("\n");
  return urls.map((url) => url.replace(`file://${root}/`, ""));
}

const run = ["run", "--store", "store", "--dir", "ckpt", "--run", "r", "--notice", "signal", "--", "true"];
const heavy = (path: string) => /node_modules\/(zod|yaml)\//.test(path);

test("outlast run loads neither the YAML parser nor the schema library", async () => {
  const loaded = await loadedBy(run);
  expect(loaded).toContain("src/supervisor/supervise.ts");
  expect(loaded.filter(heavy)).toEqual([]);
});

test("it does when there is an outlast.yaml", async () => {
  await writeFile(join(dir, "outlast.yaml"), "run:\n  keep: 4\n");
  expect((await loadedBy(run)).filter(heavy)).not.toEqual([]);
});

test("help and version load no part of the product", async () => {
  const loaded = await loadedBy(["--version"]);
  expect(loaded.filter((path) => /src\/(checkpoint|storage|supervisor|notice)\//.test(path))).toEqual([]);
});
