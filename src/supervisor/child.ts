import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { OutlastError, systemCode } from "../core/index.ts";
import { findKin, type Kinship, readProcess, sendSignal } from "./process-tree.ts";

/** Which processes get the stop signal: the main child, all its descendants, or its process group. */
export type StopScope = "main" | "tree" | "group";

/** How the main child ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What {@link startChild} starts. */
export interface ChildOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  /**
   * A session and process group of its own, so that what it leaves behind can be found. Not on a terminal: there it must stay in the
   * foreground group, or it could not read from the terminal and would miss Ctrl-C.
   */
  readonly ownSession: boolean;
  /** A `NAME=value` of `env` that no other process has. */
  readonly marker?: string | undefined;
  /** @default "inherit": its output is passed through untouched and unbuffered */
  readonly stdio?: StdioOptions | undefined;
}

/** The running main child. */
export interface Child {
  readonly pid: number;
  readonly kinship: Kinship;
  readonly ended: Promise<ChildEnd>;
  /** Set once it has ended. */
  readonly end: ChildEnd | undefined;
  /** Sends a signal now; returns how many processes it went to. */
  signal(signal: NodeJS.Signals, scope: StopScope): number;
}

/** Starts the program; rejects with `OUTLAST_CHILD_NOT_STARTED` when that fails. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const [file, ...args] = options.command;
  if (file === undefined) throw new OutlastError("OUTLAST_USAGE", "no program to run was given");
  const spawned = spawnNow(file, args, options);
  const { promise: ended, resolve } = Promise.withResolvers<ChildEnd>();
  let end: ChildEnd | undefined;
  spawned.once("exit", (code, signal) => {
    end = { code, signal };
    resolve(end);
  });
  await new Promise<void>((started, failed) => {
    spawned.once("spawn", started);
    spawned.once("error", (error) => failed(notStarted(file, options, error)));
  });
  const pid = spawned.pid;
  if (pid === undefined) throw notStarted(file, options, new Error("it has no process id"));
  const kinship: Kinship = {
    pid,
    startTime: readProcess(pid)?.startTime,
    session: options.ownSession ? pid : undefined,
    marker: options.marker,
  };
  return {
    pid,
    kinship,
    ended,
    get end() {
      return end;
    },
    signal(signal, scope) {
      const main = end === undefined && sendSignal(pid, signal) ? 1 : 0;
      if (scope === "main") return main;
      // In one group with ourselves the group cannot be signalled without hitting us: the tree is the same set then.
      if (scope === "group" && options.ownSession) return sendSignal(-pid, signal) ? 1 : main;
      return main + findKin(kinship).filter((info) => sendSignal(info.pid, signal)).length;
    },
  };
}

function spawnNow(file: string, args: readonly string[], options: ChildOptions): ChildProcess {
  try {
    return spawn(file, args, {
      env: { ...options.env },
      cwd: options.cwd,
      detached: options.ownSession,
      stdio: options.stdio ?? "inherit",
    });
  } catch (error) {
    // Bad arguments (a NUL byte, a list too long) are thrown, not emitted.
    throw notStarted(file, options, error);
  }
}

function notStarted(file: string, options: ChildOptions, cause: unknown): OutlastError {
  const code = systemCode(cause);
  const why = code === "ENOENT" ? "no such program or directory" : code === "EACCES" ? "it may not be executed" : code;
  return new OutlastError("OUTLAST_CHILD_NOT_STARTED", `${file} could not be started: ${why ?? String(cause)}`, {
    hint: `check the command after "--"${options.cwd === undefined ? "" : ` and the directory ${options.cwd}`}; PATH is searched as in a shell`,
    cause,
    operation: "spawn",
    target: file,
  });
}
