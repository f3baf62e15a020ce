/** How a write is done. */
export interface WriteOptions {
  /** On disk before it is reported. */
  readonly isDurable: boolean;
  /** About how many rows it touches. @default 1 */
  readonly rows?: number;
}

/** A write that waits for the lock. */
export interface Work {
  readonly act: () => unknown;
  readonly isDurable: boolean;
  readonly rows: number;
  /** Failed in company: tried once more, alone. */
  readonly isSolo?: boolean;
  readonly operation: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Writes of one process that wait for the lock together are committed together, up to so many rows: the event loop waits. */
const maxGroupRows = 2_000;

/** The writes of one process that wait for their turn, in groups that share a commit. */
export class WriteQueue {
  #waiting: Work[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  push(work: Work): void {
    this.#waiting.push(work);
  }

  /** The next group; it stays until it is taken. */
  next(): readonly Work[] {
    const [first] = this.#waiting;
    if (first?.isSolo) return [first];
    let [size, rows] = [0, 0];
    for (const work of this.#waiting) {
      rows += work.rows;
      if (work.isSolo || (size > 0 && rows > maxGroupRows)) break;
      size += 1;
    }
    return this.#waiting.slice(0, size);
  }

  take(group: readonly Work[]): void {
    this.#waiting.splice(0, group.length);
  }

  /** One that fails must not take its neighbours with it: each is done again, alone. */
  putBackAlone(group: readonly Work[]): void {
    this.#waiting.unshift(...group.map((work) => ({ ...work, isSolo: true })));
  }
}
