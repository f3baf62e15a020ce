import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { isOutlastError, systemClock } from "../../core/index.ts";
import { type ObjectStore, reopenStore, type StoreAddress, withRetry } from "../../storage/index.ts";
import { bucketPort, folderPort } from "./chunk-port.ts";
import { InlineLane } from "./inline-lane.ts";
import { remoteAttempts, remoteSends } from "./limits.ts";
import { isWrongChecksum } from "./run-verify.ts";
import { packError } from "./wire-error.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker-messages.ts";
import { BufferPool } from "./work-buffer.ts";

// The thread that reads, hashes, sends and writes: each request of the main thread gets a lane of its own here.

const backgroundNiceness = 10;
/** For a directory: one is read and hashed into while the others are on their way to disk. */
const folderBuffers = new BufferPool(3);
/** For a bucket: one for each chunk on the wire. */
const remoteBuffers = new BufferPool(remoteSends, false);
/** What a thread without work keeps of them. */
const idleBuffers = 1;
const lanes = new Map<number, InlineLane>();
/** Kept, with their connections, for as long as the thread lives. */
const buckets = new Map<string, Promise<ObjectStore>>();
const port = parentPort;
if (!port) throw new Error("this file runs as a worker thread");
if ((workerData as WorkerStart).isBackground) lowerPriority();

port.on("message", (message: ToWorker) => {
  if (message.type === "begin") {
    const { id, setup, address } = message;
    const lane = laneFor(address);
    lane.begin(id, setup, () => post({ refused: id }));
    lanes.set(id, lane);
  } else if (message.type === "end") {
    lanes.get(message.id)?.end(message.id);
    lanes.delete(message.id);
    if (lanes.size === 0) remoteBuffers.trim(idleBuffers);
  } else {
    void answer(message);
  }
});

function laneFor(address: StoreAddress): InlineLane {
  if (address.kind === "folder") {
    return new InlineLane({ openPort: () => folderPort(address.root), buffers: folderBuffers });
  }
  return new InlineLane({
    openPort: (signal, onRefused) => bucketPort(openBucket(address.url, onRefused), signal),
    buffers: remoteBuffers,
    isPipelined: true,
  });
}

/** The bucket with patience for one request; the client below is opened once. */
async function openBucket(
  url: string,
  onRefused: () => void,
): Promise<{ readonly reader: ObjectStore; readonly writer: ObjectStore }> {
  const opened = buckets.get(url) ?? reopenStore({ kind: "bucket", url });
  buckets.set(url, opened);
  // One that could not be opened is tried anew by the next request.
  opened.catch(() => buckets.delete(url));
  const store = await opened;
  const patience = { clock: systemClock, attempts: remoteAttempts, onRetry: onRefused };
  // Whether bytes are wrong is decided where their hash is known.
  const isTransient = (error: unknown) =>
    isOutlastError(error) && error.recovery === "retry" && !isWrongChecksum(error);
  return { reader: withRetry(store, { ...patience, isTransient }), writer: withRetry(store, patience) };
}

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
  post(reply);
}

function post(message: FromWorker): void {
  port?.postMessage(message);
}

function lowerPriority(): void {
  try {
    // On Linux "process 0" is the calling thread alone.
    setPriority(0, backgroundNiceness);
  } catch {
    // Politeness only: where it is refused, the work is done at normal priority.
  }
}
