/** Keeps at most `most` pieces of background work under way; the first failure is reported to whoever waits next. */
export class Bounded {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes note of some work; resolves when there is room for more. */
  async add(work: Promise<unknown>): Promise<void> {
    const tracked: Promise<void> = work.then(
      () => {
        this.#running.delete(tracked);
      },
      (error: unknown) => {
        this.#running.delete(tracked);
        this.#failure ??= { error };
      },
    );
    this.#running.add(tracked);
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#failure) throw this.#failure.error;
  }

  /** Resolves when all work is over; throws the first failure. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }
}
