/** Wakes everyone who waits for a change. */
export class Notifier {
  #next = Promise.withResolvers<void>();

  /** Resolves at the next change. */
  get changed(): Promise<void> {
    return this.#next.promise;
  }

  notify(): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers<void>();
    resolve();
  }
}
