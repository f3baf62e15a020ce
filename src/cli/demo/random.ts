/** A small random generator whose whole state is one number, so that a checkpoint can hold it. */
export class Random {
  #state: number;

  constructor(state: number) {
    this.#state = state >>> 0;
  }

  get state(): number {
    return this.#state;
  }

  /** A number in [-1, 1). Integer arithmetic only: the same on every machine. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
}
