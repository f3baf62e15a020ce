import { writeSync } from "node:fs";
import { systemClock, systemCode } from "../core/index.ts";
import type { Io, Output } from "./io.ts";

/** The process's own streams, environment and signals. */
export function processIo(): Io {
  return {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    onProgressSignal: (listener) => {
      process.on("SIGUSR1", listener);
      return () => process.off("SIGUSR1", listener);
    },
    leave: (code) => process.exit(code),
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: askAtTerminal } : {}),
  };
}

/** Writes at once, so that nothing is lost when the process ends right after, and order with the child's lines is kept. */
function output(stream: NodeJS.WriteStream & { readonly fd: number }): Output {
  return {
    isTTY: stream.isTTY ?? false,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    write: (text) => {
      let rest = Buffer.from(text);
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(stream.fd, rest));
        } catch (error) {
          const code = systemCode(error);
          if (code === "EAGAIN") continue;
          // The reader went away (`outlast … | head`): what it no longer wants need not be written.
          if (code === "EPIPE") return;
          throw error;
        }
      }
    },
  };
}

/** One question; the end of the input is an empty answer. */
async function askAtTerminal(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    terminal.close();
  }
}
