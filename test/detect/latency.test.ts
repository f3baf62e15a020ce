import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { createDetector } from "../../src/checkpoint/detect/index.ts";
import { systemClock } from "../../src/core/index.ts";
import { temporaryDirectory } from "./support.ts";

const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Writes and then says when the last byte was there, by the machine's clock. */
const writers = {
  marked: `
    import { mkdirSync, writeFileSync } from "node:fs";
    mkdirSync("checkpoint-7");
    writeFileSync("checkpoint-7/training_args.bin", "x");
    writeFileSync("checkpoint-7/trainer_state.json", "{}");`,
  unmarked: `
    import { writeFileSync } from "node:fs";
    writeFileSync("weights.dat", Buffer.alloc(1 << 20, "x"));
    writeFileSync("state.json", "{}");`,
} as const;

// Twice what is promised: the machine that runs the tests may be busy.
test.concurrent.each([
  ["marked", 2_000],
  ["unmarked", 5_000],
] as const)("a %s checkpoint is found within %i ms, looking twice a second", async (kind, promisedMs) => {
  const root = temporaryDirectory();
  const detector = createDetector({ root, clock: systemClock });
  const script = `${writers[kind]}\nprocess.stdout.write(String(Date.now())); setTimeout(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: root, detached: true });
  children.push(child);
  let writtenAt = Number.NaN;
  child.stdout.on("data", (text: Buffer) => {
    writtenAt = Number(text.toString());
  });
  let found: number | undefined;
  for (let look = 0; look < 40 && found === undefined; look += 1) {
    await systemClock.sleep(500);
    if ((await detector.poll({ state: "running", pid: child.pid ?? 0 })).length > 0) found = Date.now();
  }
  const latencyMs = (found ?? Number.NaN) - writtenAt;
  if (process.env["OUTLAST_SHOW"] !== undefined) process.stderr.write(`${kind}: ${latencyMs} ms\n`);
  expect(latencyMs).toBeLessThan(2 * promisedMs);
});
