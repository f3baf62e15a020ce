import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createDetector } from "../../src/checkpoint/detect/index.ts";
import { systemClock } from "../../src/core/index.ts";
import type { BenchCase, Figure } from "../case.ts";
import { median } from "../harness.ts";

/** As the session looks. */
const everyMs = 500;

const kinds = [
  {
    name: "found after its marker",
    barMs: 2000,
    write: `mkdirSync("checkpoint-7"); writeFileSync("checkpoint-7/training_args.bin", "x"); writeFileSync("checkpoint-7/trainer_state.json", "{}");`,
  },
  {
    name: "found without a marker",
    barMs: 5000,
    write: `writeFileSync("weights.dat", Buffer.alloc(1 << 20, "x")); writeFileSync("state.json", "{}");`,
  },
] as const;

/** How long after its last byte a checkpoint is found complete, in a running program's directory. */
export const benchCase: BenchCase = {
  name: "detection",
  async run({ workspace, rounds, note }) {
    const figures: Figure[] = [];
    for (const { name, barMs, write } of kinds) {
      const latencies: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const latency = await once(mkdtempSync(join(workspace.folder, "detect-")), write);
        latencies.push(latency);
        note(`round ${round}/${rounds} ${name}: ${latency}`);
      }
      const worst = Math.max(...latencies);
      figures.push({
        name,
        ours: `${Math.round(median(latencies))} ms`,
        peer: `a look every ${everyMs} ms`,
        result: `most ${worst} ms`,
        bar: `≤ ${barMs} ms`,
        isMet: worst <= barMs,
      });
    }
    return figures;
  },
};

async function once(root: string, write: string): Promise<number> {
  const detector = createDetector({ root, clock: systemClock });
  const program = `import { mkdirSync, writeFileSync } from "node:fs"; ${write} process.stdout.write(String(Date.now())); setTimeout(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { cwd: root, detached: true });
  let writtenAt = Number.NaN;
  child.stdout.on("data", (text: Buffer) => {
    writtenAt = Number(text.toString());
  });
  try {
    for (;;) {
      await systemClock.sleep(everyMs);
      if ((await detector.poll({ state: "running", pid: child.pid ?? 0 })).length > 0) return Date.now() - writtenAt;
    }
  } finally {
    child.kill("SIGKILL");
  }
}
