import { Emitter } from "../core/index.ts";
import type { Worker, WorkerEvents, WorkerOptions } from "./types.ts";
import { WorkerRun } from "./worker-run.ts";

/**
 * Starts a worker: it pulls items, skips what is done, has them handled in child processes, stores results and acks, and on a notice
 * hands back what it cannot finish.
 *
 * @example
 * const queue = await openQueue("sqlite:jobs.db", undefined, { holder: "me", leaseMs: 30_000, limits });
 * const worker = createWorker({ queue, handler: { kind: "module", path: "/app/infer.ts" }, untilDrained: true });
 * process.exitCode = (await worker.promise).exitCode;
 */
export function createWorker(options: WorkerOptions): Worker {
  const events = new Emitter<WorkerEvents>();
  const run = new WorkerRun(options, events);
  // A turn later, so that the caller can listen before the first event.
  const promise = Promise.resolve().then(() => run.run());
  const stop = (reason = "stop was called") => {
    run.receive({ source: "call", kind: "eviction", reason });
    return promise;
  };
  return {
    promise,
    events,
    get counts() {
      return run.counts;
    },
    stop,
    kill() {
      run.receive({ source: "call", kind: "force", reason: "kill was called" });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      try {
        await stop("disposed of");
      } catch {
        // Whoever holds `promise` sees the error; disposing of it only has to leave nothing running.
      }
    },
  };
}
