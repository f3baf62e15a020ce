import { OutlastError } from "../../core/index.ts";
import { hashFunction } from "../hash.ts";
import type { ChunkPort } from "./chunk-port.ts";
import { HashClaims } from "./hash-claims.ts";
import type { Job, Outcome, Setup } from "./jobs.ts";
import type { Lane } from "./lane.ts";
import { type LaneContext, runJob } from "./run-job.ts";
import { BufferPool } from "./work-buffer.ts";

/** Runs jobs on the thread it was made on: inside a worker, or for a store that only this thread can reach. */
export class InlineLane implements Lane {
  readonly depth: number;
  readonly #port: ChunkPort;
  readonly #buffers: BufferPool;
  readonly #requests = new Map<number, LaneContext>();
  #turn: Promise<void> = Promise.resolve();

  constructor(port: ChunkPort, depth: number, buffers: BufferPool = new BufferPool(1)) {
    this.#port = port;
    this.depth = depth;
    this.#buffers = buffers;
  }

  begin(id: number, setup: Setup): void {
    this.#requests.set(id, {
      setup,
      hash: hashFunction(setup.hash),
      port: this.#port,
      buffers: this.#buffers,
      claims: setup.claims && new HashClaims(setup.claims),
    });
  }

  async run<J extends Job>(id: number, job: J): Promise<Outcome<J>> {
    // One job at a time has the thread; the disk waits of those before it go on meanwhile.
    const turn = this.#turn.then(() => {
      const context = this.#requests.get(id);
      if (!context) throw ended();
      return runJob(job, context);
    });
    this.#turn = turn.then(nextTurn, nextTurn);
    const { done } = await turn;
    return (await done) as Outcome<J>;
  }

  end(id: number): void {
    this.#requests.delete(id);
  }
}

/** Lets the event loop take up messages and finished disk work between two jobs. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function ended(): OutlastError {
  return new OutlastError("OUTLAST_DEADLINE", "the transfer was given up before this part of it began");
}
