import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What the trainer reports, line by line. */
export type TrainerLine =
  | { readonly pid: number; readonly resumed: number }
  | { readonly step: number; readonly loss: number }
  | { readonly saved: number };

/** One start of the trainer, supervised or not. */
export interface Attempt {
  /** Asks for an eviction notice, as a kubelet does. */
  notify(): void;
  /** Takes the machine away: supervisor and trainer are gone at once. */
  vanish(): void;
  readonly ended: Promise<{ readonly code: number | null; readonly log: string }>;
}

/** Starts a command and hands every line the trainer prints to `onLine`. */
export function startAttempt(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  onLine: (line: TrainerLine, attempt: Attempt) => void,
): Attempt {
  const [program, ...args] = command;
  const child: ChildProcess = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let trainer: number | undefined;
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-8000);
  });
  const kill = (pid: number | undefined, signal: NodeJS.Signals) => {
    try {
      if (pid !== undefined) process.kill(pid, signal);
    } catch {
      // Already gone, which is what was wanted.
    }
  };
  const attempt: Attempt = {
    notify: () => kill(child.pid, "SIGTERM"),
    vanish: () => {
      kill(child.pid, "SIGKILL");
      kill(trainer, "SIGKILL");
    },
    ended: new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, log }));
    }),
  };
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text) as TrainerLine;
      if ("pid" in line) trainer = line.pid;
      onLine(line, attempt);
    });
  }
  return attempt;
}
