import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { DirectQueue, openQueueParts, type QueueParts, SplitQueue } from "../../src/queue/index.ts";
import { publishAll } from "./queue-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

const settler = join(import.meta.dirname, "fixtures", "killed-settler.ts");

/** Runs a settler that dies before its n-th statement; says whether it lived to the end. */
function settle(queueUrl: string, resultsUrl: string | undefined, nth: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--no-warnings", settler, queueUrl, resultsUrl ?? "-", String(nth)]);
    let said = "";
    let complaint = "";
    child.stdout.on("data", (data: Buffer) => {
      said += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      complaint += data.toString();
    });
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve(false);
      else if (code === 0 && said.includes("lived")) resolve(true);
      else reject(new Error(`settler ended with ${String(code ?? signal)}: ${complaint}`));
    });
  });
}

/** That the file is whole, and rows and results agree to the letter. */
async function expectWhole({ ledger }: QueueParts, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const db = new DatabaseSync(path);
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    db.close();
  }
  const audit = await ledger.audit();
  const stored: string[] = [];
  for await (const row of ledger.results()) stored.push(row.id);
  expect(audit.duplicates).toEqual([]);
  expect(stored).toHaveLength(audit.done);
  expect(audit.missing).toHaveLength(audit.published - audit.done);
  expect(await ledger.depth()).toMatchObject({ done: audit.done, total: audit.published, dead: 0 });
}

/** Kills at statement 1, 2, 3 … until a settler lives; then the rest is worked off and all must be there. */
async function killEverywhere(layout: "direct" | "split", from: number, step: number): Promise<number> {
  const folder = await temporaryFolder();
  try {
    const paths = layout === "split" ? ["queue.db", "results.db"] : ["queue.db"];
    const files = paths.map((name) => join(folder.path, name));
    const [queueUrl = "", resultsUrl] = files.map((file) => `sqlite:${file}`);
    const parts = await openQueueParts(queueUrl, resultsUrl);
    await parts.ledger.prepare();
    await parts.broker?.prepare();
    const ids = Array.from({ length: 8 }, (_, i) => `i${i}`);
    await publishAll(parts, ids);
    let nth = from;
    for (; !(await settle(queueUrl, resultsUrl, nth)); nth += step) await expectWhole(parts, files);
    await expectWhole(parts, files);
    const options = {
      holder: "last",
      leaseMs: 30_000,
      limits: { attempts: 3, suspectAfter: 1_000, lonelyInterruptions: 1_000 },
    };
    const queue = parts.broker
      ? new SplitQueue(parts.broker, parts.ledger, options)
      : new DirectQueue(parts.ledger, options);
    while (!(await queue.isDrained())) {
      const deliveries = await queue.pull(10, { waitMs: 50 });
      const outcomes = await queue.start(deliveries, { isIdle: true });
      const settlements = deliveries.flatMap((delivery, i) => {
        const outcome = outcomes[i];
        if (!outcome || !("claim" in outcome)) return [];
        const { id, generation } = delivery;
        return [
          { id, generation, claim: outcome.claim, delivery, ending: { kind: "result", result: `of ${id}` } as const },
        ];
      });
      await queue.settle(settlements);
    }
    const stored: Record<string, unknown> = {};
    for await (const row of parts.ledger.results()) stored[row.id] = row.result;
    expect(stored).toEqual(Object.fromEntries(ids.map((id) => [id, `of ${id}`])));
    await parts.broker?.close();
    await parts.ledger.close();
    return nth;
  } finally {
    await folder.dispose();
  }
}

/** Every statement, in strides that run side by side on files of their own; in a plain run a split queue meets every third. */
const strides = 3;
const cases = [
  { layout: "direct", firsts: [1, 2, 3] },
  { layout: "split", firsts: process.env["OUTLAST_SOAK"] ? [1, 2, 3] : [1] },
] as const;

describe("a worker killed before every statement", () => {
  it.each(cases)(
    "leaves whole files, and loses and doubles nothing ($layout)",
    { timeout: 240_000 },
    async ({ layout, firsts }) => {
      const reached = await Promise.all(firsts.map((first) => killEverywhere(layout, first, strides)));
      // Lease, start and settle of two items are more than a dozen statements.
      expect(Math.max(...reached)).toBeGreaterThan(12);
    },
  );
});
