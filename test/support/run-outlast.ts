import { runCli } from "../../src/cli/run-cli.ts";
import { systemClock } from "../../src/core/index.ts";

/** What a command line gave back. */
export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Pretend that both streams are a terminal of this width. */
  readonly columns?: number;
}

/** Runs a command line in this process, with its own environment, directory and streams. */
export async function runOutlast(args: readonly string[], options: RunOptions = {}): Promise<CliOutcome> {
  const text = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    isTTY: options.columns !== undefined,
    columns: options.columns,
    write: (chunk: string) => {
      text[name] += chunk;
    },
  });
  const code = await runCli(args, {
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    clock: systemClock,
    onProgressSignal: () => () => {},
  });
  return { code, ...text };
}
