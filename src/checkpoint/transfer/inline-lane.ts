import { OutlastError } from "../../core/index.ts";
import { hashFunction } from "../hash.ts";
import type { ChunkPort } from "./chunk-port.ts";
import { HashClaims } from "./hash-claims.ts";
import type { Job, Outcome, Setup } from "./jobs.ts";
import type { Lane } from "./lane.ts";
import { type LaneContext, runJob } from "./run-job.ts";
import { SharedRate } from "./shared-rate.ts";
import { BufferPool } from "./work-buffer.ts";

/** How an {@link InlineLane} works. */
export interface InlineLaneOptions {
  /** Opens a request's way to the store; the signal aborts when the request ends. */
  readonly openPort: (signal: AbortSignal, onRefused: () => void) => ChunkPort;
  /** @default 1 */
  readonly depth?: number;
  readonly buffers?: BufferPool;
  /** Whether jobs that wait for the store let others have the thread meanwhile. @default false */
  readonly isPipelined?: boolean;
}

interface Request {
  readonly context: LaneContext;
  readonly abort: AbortController;
}

/** Runs jobs on the thread it was made on: inside a worker, or for a store that only this thread can reach. */
export class InlineLane implements Lane {
  readonly depth: number;
  readonly #options: InlineLaneOptions;
  readonly #buffers: BufferPool;
  readonly #requests = new Map<number, Request>();
  #turn: Promise<void> = Promise.resolve();

  constructor(options: InlineLaneOptions) {
    this.#options = options;
    this.depth = options.depth ?? 1;
    this.#buffers = options.buffers ?? new BufferPool(1);
  }

  begin(id: number, setup: Setup, onRefused: () => void = () => {}): void {
    const abort = new AbortController();
    const context: LaneContext = {
      setup,
      hash: hashFunction(setup.hash),
      port: this.#options.openPort(abort.signal, onRefused),
      buffers: this.#buffers,
      claims: setup.claims && new HashClaims(setup.claims),
      rate: setup.rate && new SharedRate(setup.rate),
      signal: abort.signal,
    };
    this.#requests.set(id, { context, abort });
  }

  async run<J extends Job>(id: number, job: J): Promise<Outcome<J>> {
    const begin = () => {
      const request = this.#requests.get(id);
      if (!request) throw ended();
      return runJob(job, request.context);
    };
    // Reading from a remote store is all waiting; what needs the thread, here as everywhere, takes turns.
    if (this.#options.isPipelined && job.kind !== "send") return (await (await begin()).done) as Outcome<J>;
    // One job at a time has the thread; the waits of those before it go on meanwhile.
    const turn = this.#turn.then(begin);
    this.#turn = turn.then(nextTurn, nextTurn);
    const { done } = await turn;
    return (await done) as Outcome<J>;
  }

  end(id: number): void {
    this.#requests.get(id)?.abort.abort(ended());
    this.#requests.delete(id);
  }
}

/** Lets the event loop take up messages and finished waits between two jobs. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function ended(): OutlastError {
  return new OutlastError("OUTLAST_DEADLINE", "the transfer was given up before this part of it was done");
}
