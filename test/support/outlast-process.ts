import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const main = join(import.meta.dirname, "../../src/cli/main.ts");

/** How a process ended and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real CLI in a process of its own. */
export interface OutlastProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  kill(signal: NodeJS.Signals): void;
  /** Resolves once standard output or error holds `text`; rejects when the process ends without it. */
  says(text: string | RegExp): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts the CLI with a clean set of OUTLAST_ variables. */
export function startOutlast(
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {},
): OutlastProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OUTLAST_"));
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  const text = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      for (const look of waiting) look();
    });
  }
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...text,
  }));
  const has = (wanted: string | RegExp) =>
    [text.stdout, text.stderr].some((all) => (typeof wanted === "string" ? all.includes(wanted) : wanted.test(all)));
  return {
    pid: child.pid ?? 0,
    child,
    kill: (signal) => void child.kill(signal),
    ended,
    says: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!has(wanted)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(({ code, stderr }) => {
          look();
          reject(new Error(`ended with ${code} before saying ${String(wanted)}:\n${stderr}`));
        });
      }),
  };
}
