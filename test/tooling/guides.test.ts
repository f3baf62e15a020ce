import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Shell blocks marked `run`, in order. */
function runnable(text: string): string[] {
  return [...text.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

async function readGuides(): Promise<{ name: string; blocks: string[] }[]> {
  const names = (await readdir(join(root, "docs/guides"))).filter((name) => name.endsWith(".md"));
  const guides = await Promise.all(
    names.map(async (name) => ({ name, blocks: runnable(await readFile(join(root, "docs/guides", name), "utf8")) })),
  );
  return guides.filter(({ blocks }) => blocks.length > 0);
}

function shell(script: string, cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", script], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const add = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

describe("commands in the guides run as written", async () => {
  const guides = await readGuides();
  let cwd: string;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "outlast-guide-"));
    await cp(join(root, "bin"), join(cwd, "bin"), { recursive: true });
    for (const name of ["src", "node_modules", "package.json"]) await symlink(join(root, name), join(cwd, name));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  test("there are some", () => expect(guides.length).toBeGreaterThan(0));

  test.each(guides)("$name", async ({ blocks }) => {
    const { code, output } = await shell(blocks.join("\n"), cwd);
    expect(code, output).toBe(0);
  });
});

test("links in the documentation lead somewhere", async () => {
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
  for (const folder of ["docs", "docs/guides", "docs/concepts", "docs/reference", "docs/decisions"]) {
    for (const name of await readdir(join(root, folder))) if (name.endsWith(".md")) pages.push(`${folder}/${name}`);
  }
  const broken: string[] = [];
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const path = join(root, page, "..", target);
      const found = await readFile(path).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === "EISDIR",
      );
      if (!found) broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("the README is short, and its two set-up commands stand alone", async () => {
  const text = await readFile(join(root, "README.md"), "utf8");
  expect(text.split("\n").length).toBeLessThanOrEqual(150);
  const setUp = [...text.matchAll(/^```sh\n(npm ci[^\n]*)\n```$/gm)].map((match) => match[1]);
  expect(setUp).toEqual(["npm ci && bin/outlast demo", "npm ci && npm test"]);
});
