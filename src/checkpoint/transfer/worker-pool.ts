import type { StoreAddress } from "../../storage/index.ts";
import type { Lane } from "./lane.ts";
import { WorkerLane } from "./worker-lane.ts";

/** A few worker threads, started when they are first needed and replaced when one has failed. */
export class WorkerPool {
  readonly #size: number;
  readonly #isBackground: boolean;
  #lanes: WorkerLane[] = [];

  constructor(size: number, isBackground: boolean) {
    this.#size = size;
    this.#isBackground = isBackground;
  }

  /** Lanes for a request on the store at `address`. */
  lanes(address: StoreAddress): Lane[] {
    this.#lanes = this.#lanes.filter((lane) => lane.isAlive);
    while (this.#lanes.length < this.#size) this.#lanes.push(new WorkerLane({ isBackground: this.#isBackground }));
    return this.#lanes.map((lane) => lane.on(address));
  }

  /** Ends the threads; what they were doing fails. */
  async close(): Promise<void> {
    const lanes = this.#lanes;
    this.#lanes = [];
    await Promise.all(lanes.map((lane) => lane.close()));
  }
}
