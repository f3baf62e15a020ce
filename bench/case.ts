import type { Workspace } from "./workspace.ts";

/** One figure beside its peer or its bar. */
export interface Figure {
  readonly name: string;
  /** Ours, as people read it. */
  readonly ours: string;
  /** What it is held against. */
  readonly peer: string;
  readonly result: string;
  readonly bar: string;
  /** Undefined when there is nothing to be met. */
  readonly isMet: boolean | undefined;
}

/** What a case may use. */
export interface BenchContext {
  readonly workspace: Workspace;
  /** Where the compiled package is; what users run is measured, not the sources. */
  readonly build: string;
  readonly rounds: number;
  /** Bytes of the checkpoint that cases ship and restore. */
  readonly bytes: number;
  readonly note: (line: string) => void;
}

/** A group of figures: one file under cases/. */
export interface BenchCase {
  readonly name: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}
