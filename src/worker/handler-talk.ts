import type { Emitter } from "../core/index.ts";
import type { HandlerTalk } from "./item-handler.ts";
import type { WorkerCounts, WorkerEvents } from "./types.ts";

/** So many stray lines are shown; all are counted. */
const shownLines = 10;

/** Counts and tells what handlers do besides answering. */
export function createTalk(
  counts: { -readonly [Key in keyof WorkerCounts]: WorkerCounts[Key] },
  events: Emitter<WorkerEvents>,
  onStderr: ((bytes: Uint8Array) => void) | undefined,
): HandlerTalk {
  return {
    onStarted: (pid) => events.emit("worker:handler-started", { pid }),
    onEnded: (pid, how, wasAsked) => {
      if (!wasAsked) counts.handlerDeaths += 1;
      events.emit("worker:handler-ended", { pid, how });
    },
    onJunk: (line, why) => {
      counts.junkLines += 1;
      if (counts.junkLines > shownLines) return;
      const message = "the handler wrote a line that was ignored";
      events.emit("worker:warning", {
        message,
        why,
        line,
        ...(counts.junkLines === shownLines ? { more: "only counted from here on" } : {}),
      });
    },
    onStderr: onStderr ?? ((bytes) => void process.stderr.write(bytes)),
    onWarning: (message, fields) => events.emit("worker:warning", { message, ...fields }),
  };
}
