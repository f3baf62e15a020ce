import { Worker } from "node:worker_threads";
import { OutlastError } from "../../core/index.ts";
import type { StoreAddress } from "../../storage/index.ts";
import type { Job, Outcome, Setup } from "./jobs.ts";
import type { Lane } from "./lane.ts";
import { remoteSends } from "./limits.ts";
import { unpackError } from "./wire-error.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker-messages.ts";

interface Waiting {
  readonly resolve: (outcome: never) => void;
  readonly reject: (error: Error) => void;
}

/** On a directory: one job that has the buffer, and a few whose bytes are on their way to disk. */
const folderDepth = 5;

/** A worker thread, seen from the main thread. It keeps the process alive only while it has jobs. */
export class WorkerLane {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onRefused = new Map<number, () => void>();
  #number = 0;
  #failure: Error | undefined;

  constructor(start: WorkerStart) {
    // In a checkout this file is TypeScript and so is the worker; in the package both are JavaScript.
    const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: start,
      execArgv: [],
      name: "outlast-transfer",
      // What arrives from the network is short-lived: a small nursery is emptied before much of it has piled up.
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromWorker) => this.#settle(message));
    this.#worker.on("error", (error: Error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the worker thread ended")));
  }

  /** Whether its thread can still take jobs. */
  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** This lane for requests on the store at `address`. */
  on(address: StoreAddress): Lane {
    return {
      depth: address.kind === "bucket" ? remoteSends : folderDepth,
      begin: (id, setup, onRefused) => this.#begin(id, setup, address, onRefused),
      run: (id, job) => this.run(id, job),
      end: (id) => this.end(id),
    };
  }

  #begin(id: number, setup: Setup, address: StoreAddress, onRefused: (() => void) | undefined): void {
    if (!this.isAlive) return;
    if (onRefused) this.#onRefused.set(id, onRefused);
    this.#post({ type: "begin", id, setup, address });
  }

  run<J extends Job>(id: number, job: J): Promise<Outcome<J>> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#number += 1;
    const number = this.#number;
    return new Promise<Outcome<J>>((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(number, { resolve, reject });
      this.#post({ type: "job", id, number, job });
    });
  }

  end(id: number): void {
    this.#onRefused.delete(id);
    if (this.isAlive) this.#post({ type: "end", id });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #settle(message: FromWorker): void {
    if ("refused" in message) {
      this.#onRefused.get(message.refused)?.();
      return;
    }
    const waiting = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("error" in message) waiting?.reject(unpackError(message.error));
    else waiting?.resolve(message.outcome as never);
  }

  #fail(cause: Error): void {
    this.#failure ??= new OutlastError("OUTLAST_STORE_FAILED", `a transfer thread failed: ${cause.message}`, {
      operation: "transfer",
      recovery: "retry",
      cause,
    });
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
