/** A seeded generator, so that a failing run can be had again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.next() * values.length)] ?? values[0];
  }
}

/** The seed of this test run: `OUTLAST_SEED`, else a new one each time; it is printed. */
export function testSeed(what: string): number {
  const seed = Number(process.env["OUTLAST_SEED"] ?? Date.now() % 1_000_000);
  process.stderr.write(`${what}: OUTLAST_SEED=${seed}\n`);
  return seed;
}
