import { setTimeout as sleep } from "node:timers/promises";
import { openQueue } from "../../src/queue/index.ts";
import { chunk } from "./items.ts";
import { startWorker, type WorkerPlan } from "./workers.ts";

const limits = { attempts: 5, suspectAfter: 2, lonelyInterruptions: 20 };

/** How a worker's end is measured. */
export interface ReturnPlan extends Omit<WorkerPlan, "handler" | "flags"> {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly leaseMs: number;
}

/**
 * Ends a worker that holds two chunks, one started and one pulled ahead, and gives back the milliseconds from its end until another
 * worker could start all of it.
 */
export async function timeReturn({ signal, leaseMs, ...plan }: ReturnPlan): Promise<number> {
  const worker = startWorker({ ...plan, handler: "stuck-handler.mjs", flags: ["--lease", `${leaseMs / 1000}s`] });
  await worker.says("has it");
  // Long enough for the second chunk to be there too.
  await sleep(500);
  const options = { holder: "another", leaseMs: 60_000, limits };
  const queue = await openQueue(plan.queue, plan.results, options);
  try {
    worker.child.kill(signal);
    await worker.ended;
    const began = performance.now();
    for (let started = 0; started < 2 * chunk; ) {
      const deliveries = await queue.pull(2 * chunk, { waitMs: 500 });
      const outcomes = await queue.start(deliveries, { isIdle: false });
      started += outcomes.filter(({ kind }) => kind === "started").length;
      if (performance.now() - began > leaseMs + 30_000)
        throw new Error(`only ${started} of ${2 * chunk} items came back`);
    }
    return performance.now() - began;
  } finally {
    await queue.close();
  }
}
