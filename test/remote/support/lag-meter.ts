/** Measures how late timers come. */
export class LagMeter {
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  #most = 0;

  begin(): void {
    this.#last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#most = Math.max(this.#most, now - this.#last - 10);
      this.#last = now;
    }, 10);
  }

  end(): number {
    clearInterval(this.#timer);
    return this.#most;
  }
}
