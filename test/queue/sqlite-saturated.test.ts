import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../src/results/index.ts";
import { publish } from "./ledger-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

interface Report {
  readonly items: number;
  readonly slowestMs: number;
  readonly stoodStillMs: number;
  readonly p99Ms: number;
}

const worker = join(import.meta.dirname, "fixtures", "saturating-worker.ts");

/** Starts a worker that waits for a line before it begins. */
async function startWorker(url: string): Promise<() => Promise<Report>> {
  const child = spawn(process.execPath, ["--no-warnings", worker, url], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data: Buffer) => {
    said += data.toString();
  });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  return async () => {
    child.stdin.write("go\n");
    await ended;
    return JSON.parse(said.replace("ready\n", "")) as Report;
  };
}

describe("two workers that do nothing but write", () => {
  it("share the file: both get work, and neither blocks", { timeout: 60_000 }, async () => {
    const folder = await temporaryFolder();
    try {
      const url = `sqlite:${join(folder.path, "work.db")}`;
      const ledger = await openLedger(url);
      await ledger.prepare();
      const count = 3_000;
      await publish(
        ledger,
        Array.from({ length: count }, (_, i) => `i${i}`),
      );
      const workers = await Promise.all([startWorker(url), startWorker(url)]);
      const reports = await Promise.all(workers.map((go) => go()));
      expect(reports.reduce((sum, { items }) => sum + items, 0)).toBe(count);
      // 250 ms for a wait and 50 ms for the loop are the bars of a quiet machine. In a test run beside others only starving shows.
      const [waitMs, stillMs] = process.env["OUTLAST_SOAK"] ? [250, 50] : [20_000, 10_000];
      for (const { items, slowestMs, stoodStillMs } of reports) {
        expect(items).toBeGreaterThan(count / 20);
        expect(slowestMs).toBeLessThan(waitMs);
        expect(stoodStillMs).toBeLessThan(stillMs);
      }
      expect(await ledger.audit()).toMatchObject({ done: count, missing: [], duplicates: [], late: 0 });
      expect((await ledger.depth()).interruptions).toBe(0);
      await ledger.close();
    } finally {
      await folder.dispose();
    }
  });
});
