/**
 * The states of one supervised start, and the only place where they change.
 *
 * A start is `running` from its first breath: while it takes the run over and restores, and while the child works. When a notice comes
 * (a signal, the metadata server, a known end, a newer start of the run, a call to `stop`) it is `noticed`: from now on there is a deadline,
 * and the stop signal goes to the child at once. As soon as it has been sent the start is `draining`: the child saves and ends by itself, or
 * is killed when its time is over; uploads go on meanwhile. When nothing of the child is left it is `saving`: what is complete is
 * shipped and committed, then the journal is written. `stopped` means a verdict and an exit code; `failed` means an error instead of one.
 *
 * Short cuts: a child that ends by itself goes from `running` straight to `saving`; a notice during the restore, when there is no child yet,
 * goes from `noticed` to `saving`; a run that was finished before goes from `running` to `stopped`. A notice while `saving` does not
 * change the state: it only brings a deadline. Every state may fail; nothing leaves `stopped` or `failed`.
 */
export type SupervisorState = "running" | "noticed" | "draining" | "saving" | "stopped" | "failed";

const allowed: Readonly<Record<SupervisorState, readonly SupervisorState[]>> = {
  running: ["noticed", "saving", "stopped", "failed"],
  noticed: ["draining", "saving", "failed"],
  draining: ["saving", "failed"],
  saving: ["stopped", "failed"],
  stopped: [],
  failed: [],
};

/** A change of state. */
export interface StateChange {
  readonly from: SupervisorState;
  readonly to: SupervisorState;
}

/** Keeps the state and tells of every change. */
export class StopMachine {
  #state: SupervisorState = "running";
  readonly #onChange: (change: StateChange) => void;

  constructor(onChange: (change: StateChange) => void) {
    this.#onChange = onChange;
  }

  get state(): SupervisorState {
    return this.#state;
  }

  /** Moves to a state; a move that the table does not allow is a bug and throws. */
  to(next: SupervisorState): void {
    const from = this.#state;
    if (!allowed[from].includes(next)) throw new Error(`the supervisor cannot go from ${from} to ${next}`);
    this.#state = next;
    this.#onChange({ from, to: next });
  }
}
