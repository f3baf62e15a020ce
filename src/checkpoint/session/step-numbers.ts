import type { CompleteCheckpoint } from "../detect/index.ts";
import { type LogState, targetOf } from "../log/state.ts";

/** Gives checkpoints their steps: the number in the name, else what the program said over the socket, else the next one. */
export class StepNumbers {
  readonly #dir: string;
  readonly #said = new Map<string, number>();
  #resumed = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The program says that `path` (or, without one, whatever it saved last) is of this step. */
  say(path: string | undefined, step: number): void {
    this.#said.set(path === undefined ? "" : this.relative(path), step);
  }

  resumeFrom(step: number): void {
    this.#resumed = step;
  }

  /** Undefined when its step is not above what this start has committed: committing it would retire a newer one. */
  of(checkpoint: CompleteCheckpoint, state: LogState | undefined): number | undefined {
    const committed = state?.gangStep ?? -1;
    if (checkpoint.step !== undefined) return checkpoint.step > committed ? checkpoint.step : undefined;
    const said = this.#said.get(checkpoint.path) ?? this.#said.get("");
    if (said !== undefined && said > committed) return said;
    const previous = Math.max(committed, (state && targetOf(state)?.step) ?? 0, this.#resumed);
    return previous + 1;
  }

  /** A path as the program gave it, relative to the checkpoint directory; that itself is the empty path. */
  relative(path: string): string {
    if (path === this.#dir || path === `${this.#dir}/`) return "";
    const inside = path.startsWith(`${this.#dir}/`) ? path.slice(this.#dir.length + 1) : path;
    return inside.replace(/\/+$/, "");
  }
}
