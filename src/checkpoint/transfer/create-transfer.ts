import { availableParallelism } from "node:os";
import { type Clock, OutlastError, systemClock } from "../../core/index.ts";
import { type ObjectStore, type StoreAddress, storeAddress } from "../../storage/index.ts";
import { AdaptiveLimit } from "./adaptive-limit.ts";
import { folderPort, storePort } from "./chunk-port.ts";
import { Crew } from "./crew.ts";
import { fetch } from "./fetch.ts";
import { InlineLane } from "./inline-lane.ts";
import type { Lane } from "./lane.ts";
import { remoteFetches, remoteSends } from "./limits.ts";
import { matches } from "./matches.ts";
import { send } from "./send.ts";
import { SharedRate } from "./shared-rate.ts";
import type { FetchRequest, SendRequest, Transfer } from "./types.ts";
import { verify } from "./verify.ts";
import { BufferPool } from "./work-buffer.ts";
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
  /** Bytes per second that background sends may take together, until {@link Transfer.hurry}. @default no limit */
  readonly maxRate?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock;
}

interface AnyRequest {
  readonly store?: ObjectStore;
  readonly signal?: AbortSignal | undefined;
}

/** Who works on a request. */
interface Way {
  readonly pool: WorkerPool;
  /** How long an aborted request waits for its threads. */
  readonly patienceMs: number;
  /** The most chunks each thread has on the wire, where there is one. */
  readonly remoteJobs: number;
}

type Act<T> = (crew: Crew) => Promise<T>;

/** How long an aborted fetch waits for threads to stop writing; a call stuck in the kernel may never return. */
const fetchPatienceMs = 2000;

/** Moves checkpoints between local files and stores, in worker threads wherever these can reach the store. */
export function createTransfer(options: TransferOptions = {}): Transfer {
  return new LaneTransfer(options);
}

class LaneTransfer implements Transfer {
  readonly #isInline: boolean;
  readonly #clock: Clock;
  readonly #front: WorkerPool;
  readonly #back: WorkerPool;
  readonly #rate: SharedRate | undefined;
  #id = 0;
  #isClosed = false;

  constructor(options: TransferOptions) {
    const workers = options.workers ?? Math.min(2, availableParallelism());
    this.#isInline = options.inline ?? false;
    this.#clock = options.clock ?? systemClock;
    this.#front = new WorkerPool(workers, false);
    this.#back = new WorkerPool(workers, true);
    this.#rate = options.maxRate === undefined ? undefined : SharedRate.of(options.maxRate);
  }

  send(request: SendRequest): ReturnType<Transfer["send"]> {
    const pool = request.background ? this.#back : this.#front;
    const rate = request.background ? this.#rate?.memory : undefined;
    // What an aborted send still writes is named by nobody and harms nobody: it need not be waited for.
    const way = { pool, patienceMs: 0, remoteJobs: remoteSends };
    return this.#request(request, way, (crew) => send(request, crew, rate));
  }

  fetch(request: FetchRequest): ReturnType<Transfer["fetch"]> {
    const way = { pool: this.#front, patienceMs: fetchPatienceMs, remoteJobs: remoteFetches };
    return this.#request(request, way, (crew) => fetch(request, crew));
  }

  verify(request: Parameters<Transfer["verify"]>[0]): ReturnType<Transfer["verify"]> {
    const way = { pool: this.#front, patienceMs: 0, remoteJobs: remoteFetches };
    return this.#request(request, way, (crew) => verify(request, crew));
  }

  matches(request: Parameters<Transfer["matches"]>[0]): ReturnType<Transfer["matches"]> {
    const way = { pool: this.#front, patienceMs: 0, remoteJobs: 0 };
    return this.#request({ signal: request.signal }, way, (crew) => matches(request, crew));
  }

  hurry(): void {
    this.#rate?.lift();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#front.close(), this.#back.close()]);
  }

  #lanes({ store }: AnyRequest, { pool, remoteJobs }: Way): { readonly lanes: Lane[]; readonly limit?: AdaptiveLimit } {
    // Without a store only local files are read; any thread can do that.
    const address: StoreAddress | undefined = store ? storeAddress(store) : { kind: "folder", root: "" };
    if (this.#isInline || !address) {
      const isRemote = address?.kind === "bucket";
      return {
        lanes: [
          new InlineLane({
            openPort: (signal) => (store ? storePort(store, signal, isRemote) : folderPort("")),
            // Aligned memory is zeroed first, which costs more than a small request; only a disk wants it.
            ...(isRemote && { buffers: new BufferPool(1, false) }),
          }),
        ],
      };
    }
    const lanes = pool.lanes(address);
    if (address.kind === "folder") return { lanes };
    // From the most there is memory for, downwards: a store that is asked for too much says so.
    const most = lanes.length * remoteJobs;
    return { lanes, limit: new AdaptiveLimit({ clock: this.#clock, start: most, most }) };
  }

  async #request<T>(request: AnyRequest, way: Way, act: Act<T>): Promise<T> {
    if (this.#isClosed) throw new OutlastError("OUTLAST_USAGE", "this transfer was closed");
    const signal = request.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    this.#id += 1;
    const id = this.#id;
    const { lanes, limit } = this.#lanes(request, way);
    const crew = new Crew({ lanes, id, signal, clock: this.#clock, limit });
    const end = () => {
      for (const lane of lanes) lane.end(id);
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      return await untilAborted(act(crew), signal, () => this.#clock.sleep(way.patienceMs));
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
