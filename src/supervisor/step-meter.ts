/** The steps a start has been told of. */
export interface StepsSeen {
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Measured milliseconds a step takes; undefined until two different steps were seen. */
  readonly stepMs: number | undefined;
}

const windowSize = 64;

/** Measures how long a step takes from the child's `step` messages, however many steps lie between two of them. */
export class StepMeter {
  #first: number | undefined;
  #last: { readonly step: number; readonly atMs: number } | undefined;
  readonly #perStep: number[] = [];

  /** Notes that the child has done `step`; a step that goes backwards begins a new measurement. */
  add(step: number, atMs: number): void {
    this.#first ??= step;
    const last = this.#last;
    if (last !== undefined && step > last.step) {
      this.#perStep.push((atMs - last.atMs) / (step - last.step));
      if (this.#perStep.length > windowSize) this.#perStep.shift();
    }
    if (last === undefined || step !== last.step) this.#last = { step, atMs };
  }

  /** What is known by now; the step time is a median, so that a save between two steps does not count. */
  get seen(): StepsSeen {
    const sorted = this.#perStep.toSorted((a, b) => a - b);
    return { first: this.#first, last: this.#last?.step, stepMs: sorted[Math.floor(sorted.length / 2)] };
  }
}

/** A time between saves as a number of steps; undefined while the step time is not known. */
export function intervalInSteps(intervalMs: number | undefined, stepMs: number | undefined): number | undefined {
  if (intervalMs === undefined || stepMs === undefined || stepMs <= 0) return undefined;
  return Math.max(1, Math.round(intervalMs / stepMs));
}
