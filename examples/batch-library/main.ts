// Publishes data from a program and works it off in the same process's care: `node main.ts QUEUE HANDLER`.
import { hostname } from "node:os";
import { createWorker, openQueue, openQueueParts, publish } from "outlast/batch";

const [, , url = "sqlite:jobs.db", handler = "infer.ts"] = process.argv;

async function* reviews() {
  for (let i = 0; i < 100; i += 1) yield { review: `r${i}`, text: i % 3 === 0 ? "awful" : "a good film" };
}

const { ledger, broker } = await openQueueParts(url);
await broker?.prepare();
await ledger.prepare();
const { added, known } = await publish({ ledger, broker, from: reviews(), name: "reviews", id: "review" });
console.log(`published ${added}, known before ${known}`);

const queue = await openQueue(url, undefined, {
  holder: `${hostname()}-${process.pid}`,
  leaseMs: 30_000,
  limits: { attempts: 5, suspectAfter: 2, lonelyInterruptions: 20 },
});
const worker = createWorker({ queue, handler: { kind: "module", path: handler }, concurrency: 2, untilDrained: true });
worker.events.on("worker:dead", ({ id, error }) => console.error(`${id} is dead: ${error}`));
process.once("SIGTERM", () => void worker.stop("SIGTERM"));
const { verdict, done, exitCode } = await worker.promise;

const { missing, duplicates } = await ledger.audit();
console.log(`${verdict}: ${done} done, ${missing.length} missing, ${duplicates.length} twice`);
await queue.close();
await ledger.close();
await broker?.close();
process.exitCode = exitCode;
