import type { Job, Outcome, Setup } from "./jobs.ts";

/** One line of work: a worker thread, or this thread. */
export interface Lane {
  /** The most jobs it takes in hand. */
  readonly depth: number;
  /** Announces a request; its jobs name it by `id`. `onRefused` is called whenever the store sends a call back for now. */
  begin(id: number, setup: Setup, onRefused?: () => void): void;
  run<J extends Job>(id: number, job: J): Promise<Outcome<J>>;
  /** Ends a request: its calls to the store are broken off, jobs of it that have not begun reject. */
  end(id: number): void;
}
