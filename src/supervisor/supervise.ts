import { Emitter } from "../core/index.ts";
import type { SuperviseEvents, SuperviseOptions, Supervision } from "./supervise-types.ts";
import { SupervisedStart } from "./supervised-start.ts";

/**
 * Runs a program under supervision: restores, starts it, ships its checkpoints, and stops it well when it must go.
 *
 * @example
 * const supervision = supervise({ command: ["python", "train.py"], session, run: "bert", dir: "/ckpt" });
 * process.exitCode = (await supervision.promise).exitCode;
 */
export function supervise(options: SuperviseOptions): Supervision {
  const events = new Emitter<SuperviseEvents>();
  const start = new SupervisedStart(options, events);
  // A turn later, so that the caller can listen before the first event.
  const promise = Promise.resolve().then(() => start.run());
  const stop = (reason = "stop was called") => {
    start.receive({ source: "call", kind: "eviction", reason });
    return promise;
  };
  return {
    promise,
    events,
    stop,
    kill() {
      start.receive({ source: "call", kind: "force", reason: "kill was called" });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      try {
        await stop("disposed of");
      } catch {
        // Whoever holds `promise` sees the error; disposing of it only has to leave nothing running.
      }
    },
  };
}
