import type { Job, Outcome, Setup } from "./jobs.ts";

/** One line of work: a worker thread, or this thread. Jobs given to it run one after the other, their disk waits overlap. */
export interface Lane {
  /** How many jobs it wants in hand. */
  readonly depth: number;
  /** Announces a request; its jobs name it by `id`. */
  begin(id: number, setup: Setup): void;
  run<J extends Job>(id: number, job: J): Promise<Outcome<J>>;
  /** Forgets a request; jobs of it that have not begun reject. */
  end(id: number): void;
}
