import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { folderPort } from "./chunk-port.ts";
import { InlineLane } from "./inline-lane.ts";
import { packError } from "./wire-error.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker-messages.ts";
import { BufferPool } from "./work-buffer.ts";

// The thread that reads, hashes and writes: each request of the main thread gets a lane of its own here.

const backgroundNiceness = 10;
/** One is read and hashed into while the others are on their way to disk. */
const buffers = new BufferPool(3);
const lanes = new Map<number, InlineLane>();
const port = parentPort;
if (!port) throw new Error("this file runs as a worker thread");
if ((workerData as WorkerStart).isBackground) lowerPriority();

port.on("message", (message: ToWorker) => {
  if (message.type === "begin") {
    const lane = new InlineLane(folderPort(message.folder), 1, buffers);
    lane.begin(message.id, message.setup);
    lanes.set(message.id, lane);
  } else if (message.type === "end") {
    lanes.get(message.id)?.end(message.id);
    lanes.delete(message.id);
  } else {
    void answer(message);
  }
});

async function answer(message: Extract<ToWorker, { type: "job" }>): Promise<void> {
  const { number } = message;
  let reply: FromWorker;
  try {
    const lane = lanes.get(message.id);
    if (!lane) throw new Error(`job ${number} came for a request that is not open`);
    reply = { number, outcome: await lane.run(message.id, message.job) };
  } catch (error) {
    reply = { number, error: packError(error) };
  }
  port?.postMessage(reply);
}

function lowerPriority(): void {
  try {
    // On Linux "process 0" is the calling thread alone.
    setPriority(0, backgroundNiceness);
  } catch {
    // Politeness only: where it is refused, the work is done at normal priority.
  }
}
