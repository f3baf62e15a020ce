import type { Clock } from "../core/index.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to move on. */
export class FakeClock implements Clock {
  #wall: number;
  #elapsed = 0;
  readonly #sleepers = new Set<Sleeper>();

  /** @param startMs wall-clock time at the beginning, in milliseconds since 1970 */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#wall = startMs;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#elapsed + ms, wake: done };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Moves time on by `ms`, waking sleepers in order and letting each run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      const next = [...this.#sleepers].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#moveTo(next.at);
      next.wake();
      await settled();
    }
    this.#moveTo(end);
    await settled();
  }

  /** Sets the wall clock alone, as an administrator or a time server would. */
  setWallClock(epochMs: number): void {
    this.#wall = epochMs;
  }

  #moveTo(elapsed: number): void {
    this.#wall += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }
}

/** Lets everything that is ready run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
