import { mkdir, readdir, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { checkpointPath, readCheckpoint, writeCheckpoint } from "./checkpoint-file.ts";
import { Model } from "./model.ts";

// The program under test: an ordinary training loop that knows nothing of outlast. It saves every few steps, and on SIGTERM
// does what most scripts do: save once more and exit 0 in the middle of the work.

const { values } = parseArgs({
  options: {
    dir: { type: "string" },
    steps: { type: "string" },
    "save-every": { type: "string" },
    "pace-ms": { type: "string" },
    resume: { type: "string" },
  },
});
const dir = values.dir ?? ".";
const steps = Number(values.steps);
const saveEvery = Number(values["save-every"]);
const paceMs = Number(values["pace-ms"] ?? 0);

let stopping = false;
process.on("SIGTERM", () => {
  stopping = true;
});

const report = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Keeps the newest three, as frameworks with a limit do. */
async function rotate(): Promise<void> {
  const steps = (await readdir(dir)).flatMap((name) => /^checkpoint-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  for (const step of steps.sort((a, b) => a - b).slice(0, -3)) {
    await rm(checkpointPath(dir, step), { recursive: true, force: true });
  }
}

await mkdir(dir, { recursive: true });
const model = values.resume ? Model.resume(await readCheckpoint(values.resume)) : Model.create(2026);
report({ pid: process.pid, resumed: model.step });

while (model.step < steps) {
  const loss = model.train();
  report({ step: model.step, loss });
  if (model.step % saveEvery === 0 || model.step === steps || stopping) {
    await writeCheckpoint(dir, model.state());
    await rotate();
    report({ saved: model.step });
  }
  if (stopping && model.step < steps) break;
  if (paceMs > 0) await sleep(paceMs);
}
