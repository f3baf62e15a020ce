import { readdir } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { formatBytes, parseBytes } from "../src/core/index.ts";
import { buildPackage } from "./build.ts";
import type { BenchCase, Figure } from "./case.ts";
import { createWorkspace, loadAverage } from "./workspace.ts";

// Prints every figure beside its peer; ends with 1 when a bar is missed. See CONTRIBUTING for how to add a case.
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string", default: "7" },
    size: { type: "string", default: "2GiB" },
    folder: { type: "string", default: tmpdir() },
    json: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const note = (line: string) => {
  if (values.verbose) process.stderr.write(`${line}\n`);
};
const files = (await readdir(new URL("./cases/", import.meta.url))).filter((name) => name.endsWith(".ts")).sort();
const cases: BenchCase[] = [];
for (const file of files) {
  cases.push(((await import(new URL(`./cases/${file}`, import.meta.url).href)) as { benchCase: BenchCase }).benchCase);
}
const chosen = cases.filter(({ name }) => !values.only || values.only.includes(name));
if (chosen.length === 0) {
  process.stderr.write(`error: no such case\n\nhint: choose from ${cases.map(({ name }) => name).join(", ")}\n`);
  process.exit(2);
}

const machine = `node ${process.version}, ${availableParallelism()} cores, ${formatBytes(totalmem())}, load ${await loadAverage()}`;
const workspace = await createWorkspace(values.folder);
const build = await buildPackage();
const figures: Figure[] = [];
process.on("SIGINT", () => void workspace.dispose().then(() => process.exit(130)));
try {
  if (!values.json) process.stdout.write(`${machine}; median of ${values.rounds} [least..most]\n\n`);
  for (const bench of chosen) {
    const context = { workspace, build, rounds: Number(values.rounds), bytes: parseBytes(values.size), note };
    for (const figure of await bench.run(context)) {
      figures.push(figure);
      if (!values.json) process.stdout.write(`${line(figure)}\n`);
    }
  }
} finally {
  await workspace.dispose();
}
if (values.json)
  process.stdout.write(`${JSON.stringify({ schema: 1, machine, rounds: Number(values.rounds), figures })}\n`);
process.exitCode = figures.some(({ isMet }) => isMet === false) ? 1 : 0;

function line({ name, ours, peer, result, bar, isMet }: Figure): string {
  const verdict = isMet === undefined ? "-" : isMet ? "ok" : "MISSED";
  return [name.padEnd(28), ours.padEnd(22), peer.padEnd(38), result.padEnd(12), bar.padEnd(10), verdict].join("  ");
}
