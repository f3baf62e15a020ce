import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../src/results/index.ts";
import { LedgerWorker, result } from "./ledger-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

/** Leases, starts and settles chunks of ten; returns the 99th percentile of a lease in milliseconds. */
async function leaseP99(worker: LedgerWorker, chunks: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < chunks; i += 1) {
    const since = performance.now();
    const items = await worker.lease(10);
    times.push(performance.now() - since);
    await worker.start(items);
    await worker.settle(items, result(1));
  }
  return times.toSorted((a, b) => a - b)[Math.floor(chunks * 0.99)] ?? 0;
}

// Times mean something only where nothing else runs: the plain test counts, the soak of a million also measures.
const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const backlog = isSoak ? 1_000_000 : 40_000;

describe(`a backlog of ${backlog} items`, () => {
  it("is leased as fast as a short one, and counted at once", { timeout: 600_000 }, async () => {
    const folder = await temporaryFolder();
    try {
      const ledger = await openLedger(`sqlite:${join(folder.path, "work.db")}`);
      await ledger.prepare();
      const add = async (from: number, to: number) => {
        for (let i = from; i < to; i += 2_000) {
          await ledger.add(
            Array.from({ length: 2_000 }, (_, k) => ({ id: `item-${i + k}`, data: { url: `${i + k}.jpg` } })),
          );
        }
      };
      await add(0, 20_000);
      const worker = new LedgerWorker(ledger, "w");
      const few = await leaseP99(worker, 1_000);
      await add(20_000, 20_000 + backlog);
      const many = await leaseP99(worker, 1_000);
      const since = performance.now();
      expect(await ledger.depth()).toMatchObject({ ready: backlog, done: 20_000 });
      const counted = performance.now() - since;
      if (isSoak) {
        expect(many).toBeLessThan(Math.max(3 * few, 2));
        expect(counted).toBeLessThan(50);
      }
      await ledger.close();
    } finally {
      await folder.dispose();
    }
  });
});
