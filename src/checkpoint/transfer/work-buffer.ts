import { chunkBytes } from "./limits.ts";

/** One reused buffer, page-aligned so that it can be written past the page cache. */
export class WorkBuffer {
  #bytes: Uint8Array | undefined;

  /** At least `size` bytes of scratch memory; what was there before is gone. */
  take(size: number): Uint8Array {
    if (!this.#bytes || this.#bytes.length < size) {
      const length = Math.max(size, chunkBytes + 4096);
      // A resizable buffer gets pages of its own; an ordinary one starts anywhere.
      this.#bytes = new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }));
    }
    return this.#bytes.subarray(0, size);
  }
}

/** A few reused buffers; who finds none free waits for one. */
export class BufferPool {
  readonly #free: WorkBuffer[];
  readonly #waiting: ((buffer: WorkBuffer) => void)[] = [];

  constructor(count: number) {
    this.#free = Array.from({ length: count }, () => new WorkBuffer());
  }

  acquire(): Promise<WorkBuffer> {
    const free = this.#free.pop();
    return free ? Promise.resolve(free) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(buffer: WorkBuffer): void {
    const next = this.#waiting.shift();
    if (next) next(buffer);
    else this.#free.push(buffer);
  }
}
