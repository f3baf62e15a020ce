/**
 * Takes out the rules of the commit log and of batch work one at a time, each in a copy of the tree, and sees whether the test that is there for it fails.
 * `node tools/mutants.ts [FILTER]`; ends with 1 when a mutant survives.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { batchMutants } from "./batch-mutants.ts";
import { type Mutant, mutants } from "./mutant-list.ts";

const root = join(import.meta.dirname, "..");

async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "outlast-mutants-"));
  const names = [
    "src",
    "test/model",
    "test/protocol",
    "test/queue",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts",
  ];
  for (const name of names) {
    await mkdir(join(copy, name, ".."), { recursive: true });
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function mutate(copy: string, mutant: Mutant): Promise<() => Promise<void>> {
  const originals = new Map<string, string>();
  for (const { file, search, replace } of mutant.edits) {
    const path = join(copy, file);
    const text = await readFile(path, "utf8");
    if (!originals.has(path)) originals.set(path, text);
    if (text.split(search).length !== 2) throw new Error(`${mutant.name}: ${file} does not hold exactly one ${search}`);
    await writeFile(
      path,
      text.replace(search, () => replace),
    );
  }
  return async () => {
    for (const [path, text] of originals) await writeFile(path, text);
  };
}

interface Verdict {
  readonly end: "passed" | "failed" | "did not run";
  /** The first line of the failure. */
  readonly why: string;
}

/** Runs one test; answers with what became of it. */
function runTest(copy: string, test: string, name: string): Promise<Verdict> {
  return new Promise((resolve) => {
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", test, "-t", name, "--reporter=json"];
    const child = spawn(process.execPath, args, { cwd: copy, stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.on("close", () => {
      const passed = Number(/"numPassedTests":(\d+)/.exec(output)?.[1] ?? 0);
      const failed = Number(/"numFailedTests":(\d+)/.exec(output)?.[1] ?? 0);
      const message = /"failureMessages":\["((?:[^"\\]|\\.)*)/.exec(output)?.[1] ?? "";
      const why = message.split("\\n")[0]?.slice(0, 110) ?? "";
      resolve({ end: failed > 0 ? "failed" : passed > 0 ? "passed" : "did not run", why });
    });
  });
}

/** The beginning of a test's name as a pattern that matches nothing else. */
function pattern(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

const filter = process.argv[2] ?? "";
const copy = await copyTree();
let bad = 0;
try {
  for (const mutant of [...mutants, ...batchMutants].filter(({ name }) => name.includes(filter))) {
    const started = performance.now();
    const sound = await runTest(copy, mutant.test, pattern(mutant.case));
    const restore = await mutate(copy, mutant);
    const verdict = await runTest(copy, mutant.test, pattern(mutant.case));
    await restore();
    const isKilled = sound.end === "passed" && verdict.end === "failed";
    if (!isKilled) bad += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const survived = `SURVIVED (${verdict.end})`;
    const said = sound.end === "passed" ? (isKilled ? "killed" : survived) : `TEST ${sound.end} WITHOUT THE MUTATION`;
    console.log(
      `${said.padEnd(8)} ${seconds.padStart(5)} s  ${mutant.name}\n${" ".repeat(18)}${mutant.test} › ${mutant.case} …\n${" ".repeat(18)}${verdict.why}`,
    );
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}
process.exitCode = bad === 0 ? 0 : 1;
