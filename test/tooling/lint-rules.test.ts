import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What each folder may import, straight from ARCHITECTURE.md. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  spec: ["core"],
  storage: ["core"],
  notice: ["core"],
  plan: ["core"],
  checkpoint: ["core", "spec", "storage", "notice", "plan"],
  results: ["core", "spec", "storage", "notice"],
  queue: ["core", "spec", "storage", "notice", "results"],
  manifests: ["core", "spec"],
  lint: ["core", "spec"],
  supervisor: ["core", "spec", "storage", "notice", "plan", "checkpoint"],
  worker: ["core", "spec", "storage", "notice", "plan", "checkpoint", "results", "queue"],
  cli: [
    "core",
    "spec",
    "storage",
    "notice",
    "plan",
    "checkpoint",
    "results",
    "queue",
    "manifests",
    "lint",
    "supervisor",
    "worker",
    "testing",
  ],
  testing: [
    "core",
    "spec",
    "storage",
    "notice",
    "plan",
    "checkpoint",
    "results",
    "queue",
    "manifests",
    "lint",
    "supervisor",
    "worker",
  ],
};

/** Violations that every lint run must find, each planted in a file of its own. */
const planted: Record<string, string> = {
  "typescript(no-floating-promises)": `export async function act(): Promise<void> {}\nexport function call(): void {\n  act();\n}\n`,
  "typescript(no-explicit-any)": `export const value: any = 1;\n`,
  "typescript(no-non-null-assertion)": `export const first = (list: string[]): string => list[0]!;\n`,
  "eslint(no-console)": `export const say = (): void => console.log("hello");\n`,
  "eslint(no-empty)": `export function act(): void {\n  try {\n    JSON.parse("");\n  } catch {}\n}\n`,
  "import(no-cycle)": `import { other } from "./cycle.ts";\nexport const one: unknown = other;\n`,
};

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-lint-"));
  await symlink(join(root, "node_modules"), join(dir, "node_modules"));
  await copyFile(join(root, ".oxlintrc.json"), join(dir, ".oxlintrc.json"));
  await copyFile(join(root, "tsconfig.json"), join(dir, "tsconfig.json"));
  await writeFile(join(dir, "package.json"), `{ "type": "module" }`);
});

afterAll(() => rm(dir, { recursive: true, force: true }));

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
}

async function lint(): Promise<readonly { file: string; code: string }[]> {
  const run = promisify(execFile);
  const { stdout } = await run(
    join(root, "node_modules/.bin/node"),
    [join(root, "node_modules/oxlint/bin/oxlint"), "--type-aware", "-f", "json", "src"],
    { cwd: dir, maxBuffer: 64 << 20 },
  ).catch((error: { stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
  return diagnostics.map(({ filename, code }) => ({ file: filename, code }));
}

test("the import table of ARCHITECTURE.md names every folder", async () => {
  const folders = (await readdir(join(root, "src"), { withFileTypes: true })).filter((entry) => entry.isDirectory());
  expect(folders.map((folder) => folder.name).sort()).toEqual(Object.keys(mayImport).sort());
});

test("imports that point up, sideways or past an index.ts are found, and no others", async () => {
  const wanted: string[] = [];
  const folders = Object.keys(mayImport);
  for (const from of folders) {
    for (const to of folders.filter((folder) => folder !== from)) {
      await plant(`src/${from}/top-${to}.ts`, `import "../${to}/index.ts";\n`);
      await plant(`src/${from}/sub/nested-${to}.ts`, `import "../../${to}/index.ts";\n`);
      await plant(`src/${from}/deep-${to}.ts`, `import "../${to}/inner.ts";\n`);
      await plant(`src/${from}/sub/deeper-${to}.ts`, `import "../../${to}/sub/inner.ts";\n`);
      wanted.push(`src/${from}/deep-${to}.ts`, `src/${from}/sub/deeper-${to}.ts`);
      if (!mayImport[from]?.includes(to)) wanted.push(`src/${from}/top-${to}.ts`, `src/${from}/sub/nested-${to}.ts`);
    }
  }
  const found = (await lint()).filter(({ code }) => code === "eslint(no-restricted-imports)").map(({ file }) => file);
  expect([...new Set(found)].sort()).toEqual(wanted.sort());
});

test("every planted fault is found", async () => {
  let n = 0;
  for (const text of Object.values(planted)) await plant(`src/core/planted-${(n += 1)}.ts`, text);
  await plant("src/core/cycle.ts", `import { one } from "./planted-${n}.ts";\nexport const other: unknown = one;\n`);
  const found = new Set((await lint()).map(({ code }) => code));
  expect(Object.keys(planted).filter((code) => !found.has(code))).toEqual([]);
});
