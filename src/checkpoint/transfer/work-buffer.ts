import { chunkBytes } from "./limits.ts";

/** Room for a full chunk, and for the byte more that shows that an object is too long. */
const usualBytes = chunkBytes + 4096;

/** One reused buffer, page-aligned where it is to be written past the page cache. */
export class WorkBuffer {
  readonly #isAligned: boolean;
  #bytes: Uint8Array | undefined;

  constructor(isAligned = true) {
    this.#isAligned = isAligned;
  }

  /** At least `size` bytes of scratch memory; what was there before is gone. */
  take(size: number): Uint8Array {
    if (!this.#bytes || this.#bytes.length < size) {
      const length = Math.max(size, usualBytes);
      // A resizable buffer gets pages of its own; an ordinary one starts anywhere.
      this.#bytes = this.#isAligned
        ? new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }))
        : new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
    }
    return this.#bytes.subarray(0, size);
  }

  /** Bytes it holds now. */
  get size(): number {
    return this.#bytes?.length ?? 0;
  }
}

/** A few reused buffers, allocated as they are needed; who finds no room waits for it, in order. */
export class BufferPool {
  readonly #most: number;
  readonly #isAligned: boolean;
  #free: WorkBuffer[] = [];
  #lent = new Map<WorkBuffer, number>();
  #lentBytes = 0;
  readonly #waiting: { readonly bytes: number; readonly give: (buffer: WorkBuffer) => void }[] = [];

  /** A pool of `count` full chunks' memory. Larger chunks get room of their own size, and so fewer at a time. */
  constructor(count: number, isAligned = true) {
    this.#most = count * chunkBytes;
    this.#isAligned = isAligned;
  }

  acquire(size: number): Promise<WorkBuffer> {
    const bytes = Math.max(size, chunkBytes);
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) return Promise.resolve(this.#lend(bytes));
    return new Promise((give) => this.#waiting.push({ bytes, give }));
  }

  release(buffer: WorkBuffer): void {
    this.#lentBytes -= this.#lent.get(buffer) ?? 0;
    this.#lent.delete(buffer);
    // One that had to grow for another writer's large chunk would keep that memory for good.
    if (buffer.size <= usualBytes) this.#free.push(buffer);
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.give(this.#lend(next.bytes));
    }
  }

  /** Gives the memory of all free buffers back, but for `keep` of them. */
  trim(keep: number): void {
    this.#free = this.#free.slice(0, keep);
  }

  #hasRoom(bytes: number): boolean {
    return this.#lentBytes === 0 || this.#lentBytes + bytes <= this.#most;
  }

  #lend(bytes: number): WorkBuffer {
    const buffer = this.#free.pop() ?? new WorkBuffer(this.#isAligned);
    this.#lent.set(buffer, bytes);
    this.#lentBytes += bytes;
    return buffer;
  }
}
