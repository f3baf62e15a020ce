import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { OutlastError, systemCode } from "../core/index.ts";

/** Which program a handler is. */
export interface HandlerProgram {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  /** Where answers come: standard output, or a descriptor of its own while standard output joins standard error. */
  readonly answersOn: 1 | 3;
}

export interface HandlerProcessHooks {
  readonly onData: (data: Buffer) => void;
  readonly onStderr: (data: Buffer) => void;
  /** All output has been read and the process is gone. */
  readonly onEnd: (how: string) => void;
}

const keptStderr = 4096;

/** A handler's process. It leads a session of its own, so that a Ctrl-C at the terminal reaches the worker alone. */
export class HandlerProcess {
  readonly #child: ChildProcess;
  readonly #program: HandlerProgram;
  #stderrTail: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  /** Resolves once it is gone. */
  readonly ended: Promise<void>;

  private constructor(child: ChildProcess, program: HandlerProgram, hooks: HandlerProcessHooks) {
    this.#child = child;
    this.#program = program;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#answers.on("data", hooks.onData);
    const keep = (data: Buffer) => {
      this.#stderrTail = Buffer.concat([this.#stderrTail, data]).subarray(-keptStderr);
      hooks.onStderr(data);
    };
    child.stderr?.on("data", keep);
    if (program.answersOn === 3) child.stdout?.on("data", keep);
    // A handler that ended with lines unread: its exit tells the story, not the broken pipe.
    child.stdin?.on("error", () => {});
    child.once("exit", (code, signal) => {
      const end = () => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        hooks.onEnd(describeEnd(code, signal));
        resolve();
      };
      // `close` waits for every holder of the pipes; a grandchild that keeps them open must not hide the end.
      child.once("close", end);
      setTimeout(end, 500).unref();
    });
  }

  /** Starts it; rejects with `OUTLAST_CHILD_NOT_STARTED` when that fails. */
  static async start(program: HandlerProgram, hooks: HandlerProcessHooks): Promise<HandlerProcess> {
    const [file = "", ...args] = program.command;
    const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...(program.answersOn === 3 ? (["pipe"] as const) : [])];
    let child: ChildProcess;
    try {
      child = spawn(file, args, { env: { ...program.env }, cwd: program.cwd, stdio, detached: true });
    } catch (error) {
      throw notStarted(file, error);
    }
    await new Promise<void>((started, failed) => {
      child.once("spawn", started);
      child.once("error", (error) => failed(notStarted(file, error)));
    });
    return new HandlerProcess(child, program, hooks);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The last lines it wrote to standard error. */
  get lastWords(): string {
    return this.#stderrTail.toString("utf8").trim().split("\n").slice(-8).join("\n");
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Signals the process and everything it started. */
  signal(signal: NodeJS.Signals): void {
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      // Gone already; that is what was wanted.
      if (systemCode(error) !== "ESRCH") throw error;
    }
  }

  get #answers(): Readable {
    const stream = this.#program.answersOn === 1 ? this.#child.stdout : this.#child.stdio[3];
    return stream as Readable;
  }
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `was ended by ${signal} (${128 + constants.signals[signal]})`;
  return `exited with code ${code ?? 0}`;
}

function notStarted(file: string, cause: unknown): OutlastError {
  const code = systemCode(cause);
  const why = code === "ENOENT" ? "no such program or directory" : code === "EACCES" ? "it may not be executed" : code;
  return new OutlastError("OUTLAST_CHILD_NOT_STARTED", `${file} could not be started: ${why ?? String(cause)}`, {
    hint: `check the command after "--"; PATH is searched as in a shell`,
    cause,
    operation: "spawn",
    target: file,
  });
}
