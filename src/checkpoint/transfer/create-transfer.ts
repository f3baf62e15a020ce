import { availableParallelism } from "node:os";
import { type Clock, OutlastError, systemClock } from "../../core/index.ts";
import { directFolder, type ObjectStore } from "../../storage/index.ts";
import { folderPort, storePort } from "./chunk-port.ts";
import { fetch } from "./fetch.ts";
import { InlineLane } from "./inline-lane.ts";
import type { Lane } from "./lane.ts";
import { matches } from "./matches.ts";
import { send } from "./send.ts";
import type { FetchRequest, SendRequest, Transfer } from "./types.ts";
import { verify } from "./verify.ts";
import { WorkerPool } from "./worker-pool.ts";

/** How {@link createTransfer} works. */
export interface TransferOptions {
  /** Number of worker threads. @default 2, or 1 on a machine with one core */
  readonly workers?: number;
  /**
   * Do everything on the calling thread. Always so for stores that another thread cannot reach: in memory, or with faults
   * put in. @default false
   */
  readonly inline?: boolean;
  /** @default the system's */
  readonly clock?: Clock;
}

type Act<T> = (lanes: readonly Lane[], id: number, signal: AbortSignal) => Promise<T>;

/** How long an aborted fetch waits for threads to stop writing; a call stuck in the kernel may never return. */
const fetchPatienceMs = 2000;

/** Moves checkpoints between local files and stores, in worker threads wherever the store is a directory. */
export function createTransfer(options: TransferOptions = {}): Transfer {
  return new LaneTransfer(options);
}

class LaneTransfer implements Transfer {
  readonly #isInline: boolean;
  readonly #clock: Clock;
  readonly #front: WorkerPool;
  readonly #back: WorkerPool;
  #id = 0;
  #isClosed = false;

  constructor(options: TransferOptions) {
    const workers = options.workers ?? Math.min(2, availableParallelism());
    this.#isInline = options.inline ?? false;
    this.#clock = options.clock ?? systemClock;
    this.#front = new WorkerPool(workers, false);
    this.#back = new WorkerPool(workers, true);
  }

  send(request: SendRequest): ReturnType<Transfer["send"]> {
    const pool = request.background ? this.#back : this.#front;
    // What an aborted send still writes is named by nobody and harms nobody: it need not be waited for.
    return this.#request(request, pool, 0, (lanes, id, signal) => send(request, lanes, id, signal));
  }

  fetch(request: FetchRequest): ReturnType<Transfer["fetch"]> {
    return this.#request(request, this.#front, fetchPatienceMs, (lanes, id, signal) =>
      fetch(request, lanes, id, signal),
    );
  }

  verify(request: Parameters<Transfer["verify"]>[0]): ReturnType<Transfer["verify"]> {
    return this.#request(request, this.#front, 0, (lanes, id, signal) => verify(request, lanes, id, signal));
  }

  matches(request: Parameters<Transfer["matches"]>[0]): ReturnType<Transfer["matches"]> {
    return this.#request({ signal: request.signal }, this.#front, 0, (lanes, id, signal) =>
      matches(request, lanes, id, signal),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#front.close(), this.#back.close()]);
  }

  #lanes(
    { store, signal }: { readonly store?: ObjectStore; readonly signal?: AbortSignal | undefined },
    pool: WorkerPool,
  ): Lane[] {
    // Without a store only local files are read; any thread can do that.
    const folder = this.#isInline ? undefined : store ? directFolder(store) : "";
    if (folder !== undefined) return pool.lanes(folder);
    return [new InlineLane(store ? storePort(store, signal) : folderPort(""), 1)];
  }

  async #request<T>(
    request: { readonly store?: ObjectStore; readonly signal?: AbortSignal | undefined },
    pool: WorkerPool,
    patienceMs: number,
    act: Act<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new OutlastError("OUTLAST_USAGE", "this transfer was closed");
    const signal = request.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    this.#id += 1;
    const id = this.#id;
    const lanes = this.#lanes(request, pool);
    const end = () => {
      for (const lane of lanes) lane.end(id);
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      return await untilAborted(act(lanes, id, signal), signal, () => this.#clock.sleep(patienceMs));
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }
}

/** Waits for `work`; after an abort no longer than `patience` allows. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal, patience: () => Promise<void>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      void patience().then(() => reject(signal.reason as Error));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
