import type { Clock } from "../core/index.ts";
import type { Environment } from "../spec/index.ts";

/** A stream the CLI writes to. */
export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width of the terminal, when it is one. */
  readonly columns: number | undefined;
}

/** Everything the CLI knows of the process it runs in; tests make their own. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  readonly cwd: string;
  readonly clock: Clock;
  /** Tells of a signal that asks for progress (SIGUSR1); returns a function that stops listening. */
  readonly onProgressSignal: (listener: () => void) => () => void;
  /** Ends the process at once, whatever still runs in it; not given where the CLI is a guest in its process. */
  readonly leave?: (code: number) => void;
  /** Asks the person at the terminal for a line; not given where there is nobody to ask. */
  readonly ask?: (question: string) => Promise<string>;
}
