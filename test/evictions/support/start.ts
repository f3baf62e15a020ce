import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kill, until } from "./processes.ts";

const main = join(import.meta.dirname, "../../../src/cli/main.ts");

export interface StartOptions {
  readonly env?: Record<string, string>;
  /** File for its output and its program's. */
  readonly log: string;
  /** A `NAME=value` that its whole process tree inherits. */
  readonly marker: string;
}

/** A line of the supervisor's own log. */
export interface LogLine {
  readonly severity: string;
  readonly time: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/**
 * One start of the CLI. Its output goes to a file and its end is its own, not that of its pipes: a program that outlives it would hold a pipe
 * open.
 */
export class Start {
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly startedAt: number = Date.now();
  readonly #log: string;
  readonly #child: ChildProcess;

  constructor(args: readonly string[], options: StartOptions) {
    this.#log = options.log;
    const [name = "", value = ""] = options.marker.split("=");
    const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith("OUTLAST_"));
    const out = openSync(options.log, "a");
    this.#child = spawn(process.execPath, [main, ...args], {
      env: { ...Object.fromEntries(inherited), ...options.env, [name]: value },
      stdio: ["ignore", out, out],
    });
    closeSync(out);
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** All it and its program have written. */
  get output(): string {
    return readFileSync(this.#log, "utf8");
  }

  get lines(): readonly LogLine[] {
    const lines = this.output.split("\n").filter((line) => line.startsWith('{"severity"') && line.endsWith("}"));
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  /** The process number of the program, once it is started. */
  get program(): number | undefined {
    return this.lines.find((line) => line.message === "started")?.["pid"] as number | undefined;
  }

  /** SIGKILL for the supervisor and its program at once. */
  killAll(): void {
    const { program } = this;
    this.kill("SIGKILL");
    if (program !== undefined) kill(program, "SIGKILL");
  }

  async says(text: string | RegExp, limitMs = 20_000): Promise<void> {
    const has = () => (typeof text === "string" ? this.output.includes(text) : text.test(this.output));
    await until(`${String(text)} in the output`, () => has() || this.hasEnded, limitMs);
    if (!has()) throw new Error(`it ended before saying ${String(text)}:\n${this.output}`);
  }

  /** Its exit code, for starts that end by themselves. */
  async code(): Promise<number | null> {
    return (await this.ended).code;
  }
}
