import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { Notice, NoticeKind, NoticeSource } from "./types.ts";

/** Signals that mean "stop". An image's STOPSIGNAL may turn a pod's SIGTERM into SIGINT or SIGQUIT, so those count too. */
const listened = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"] as const;

/** A signal this source listens to. */
export type StopRequestSignal = (typeof listened)[number];

/** How {@link createSignalSource} reads signals. */
export interface SignalSourceOptions {
  /**
   * Whether a person sits at the terminal: then SIGINT and SIGQUIT are Ctrl-C and Ctrl-\.
   * @default process.stdin.isTTY
   */
  readonly isTerminal?: boolean;
  /**
   * Whether this is a container's main process: then, without a terminal, SIGINT is the platform's stop signal (STOPSIGNAL) and not a
   * person's `kill -INT`.
   * @default process.pid === 1
   */
  readonly isMainProcess?: boolean;
  /** Milliseconds within which a second Ctrl-C is taken for an echo of the first (a wrapper forwards what the child already got). @default 300 */
  readonly echoMs?: number;
  /** @default performance.now */
  readonly monotonic?: () => number;
}

/** The signal source; it listens from its creation on, so that nothing is lost before `start`. */
export interface SignalSource extends NoticeSource, Disposable {
  /** Takes one signal as if it had arrived. */
  readonly receive: (signal: StopRequestSignal) => void;
}

/**
 * Notices from signals. Handlers stay in place until it is disposed of, not only until `start`'s signal aborts: a repeated SIGTERM between
 * the verdict and the process's exit must not turn exit 75 into 143.
 */
export function createSignalSource(options: SignalSourceOptions = {}): SignalSource {
  const { isTerminal = process.stdin.isTTY === true, isMainProcess = process.pid === 1, echoMs = 300 } = options;
  const monotonic = options.monotonic ?? (() => performance.now());
  const early: Notice[] = [];
  let deliver: ((notice: Notice) => void) | undefined;
  let lastInterrupt: number | undefined;

  const receive = (signal: StopRequestSignal) => {
    let kind: NoticeKind = isInterrupt(signal, isTerminal, isMainProcess) ? "interrupt" : "eviction";
    if (kind === "interrupt") {
      const now = monotonic();
      if (lastInterrupt !== undefined) {
        if (now - lastInterrupt < echoMs) return;
        kind = "force";
      }
      lastInterrupt = now;
    }
    const notice: Notice = { source: "signal", kind, reason: signal };
    if (deliver) deliver(notice);
    else early.push(notice);
  };

  // A program started by nohup has SIGHUP ignored; a handler would undo that.
  const signals = listened.filter((signal) => signal !== "SIGHUP" || !isIgnored(constants.signals.SIGHUP));
  for (const signal of signals) process.on(signal, receive);
  return {
    name: "signal",
    receive,
    start(onNotice, signal) {
      deliver = onNotice;
      for (const notice of early.splice(0)) onNotice(notice);
      signal.addEventListener("abort", () => {
        deliver = () => {};
      });
    },
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, receive);
    },
  };
}

function isInterrupt(signal: StopRequestSignal, isTerminal: boolean, isMainProcess: boolean): boolean {
  if (signal !== "SIGINT" && signal !== "SIGQUIT") return false;
  return isTerminal || (!isMainProcess && signal === "SIGINT");
}

/** Whether this process was started with the signal ignored (Linux; elsewhere never). */
function isIgnored(number: number): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
  } catch {
    // No /proc: assume the usual disposition.
    return false;
  }
}
