const slotBytes = 36;
const empty = 0;
const beingWritten = 1;
const taken = 2;

/**
 * The hashes that are stored or being stored, shared between threads: of any number of threads that hold the same bytes,
 * one stores them. A table with open addressing; each slot is a state and 32 bytes of hash.
 */
export class HashClaims {
  readonly memory: SharedArrayBuffer;
  readonly #states: Int32Array;
  readonly #hashes: Uint8Array;
  readonly #slots: number;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#slots = memory.byteLength / slotBytes;
    this.#states = new Int32Array(memory, 0, this.#slots);
    this.#hashes = new Uint8Array(memory, this.#slots * 4);
  }

  /** A table with room for `count` hashes. */
  static forCount(count: number): HashClaims {
    return new HashClaims(new SharedArrayBuffer(slotBytes * Math.max(16, count * 2)));
  }

  /** Whether the caller is the first to name this hash (32 bytes), and so has to store its bytes. */
  claim(hash: Uint8Array): boolean {
    const start = ((hash[0] ?? 0) | ((hash[1] ?? 0) << 8) | ((hash[2] ?? 0) << 16) | ((hash[3] ?? 0) << 24)) >>> 0;
    for (let step = 0; step < this.#slots; step += 1) {
      const slot = (start + step) % this.#slots;
      const before = Atomics.compareExchange(this.#states, slot, empty, beingWritten);
      if (before === empty) {
        this.#hashes.set(hash, slot * 32);
        Atomics.store(this.#states, slot, taken);
        return true;
      }
      // Its owner is copying 32 bytes: that is over before a wait could begin.
      while (Atomics.load(this.#states, slot) === beingWritten);
      if (this.#holds(slot, hash)) return false;
    }
    throw new Error("the table of hashes is full: it was made for fewer chunks");
  }

  #holds(slot: number, hash: Uint8Array): boolean {
    for (let i = 0; i < 32; i += 1) if (this.#hashes[slot * 32 + i] !== hash[i]) return false;
    return true;
  }
}
