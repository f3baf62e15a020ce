import { formatBytes, type LogFields, type Logger } from "../../core/index.ts";
import type { Io } from "../io.ts";

/** How far some long work is: by bytes, or in words of its own. */
export type ProgressUpdate =
  | {
      /** What is being done, such as `verifying step 400`. */
      readonly what: string;
      readonly bytes: number;
      readonly totalBytes: number;
    }
  | {
      readonly what: string;
      /** The line on a terminal, after `what`. */
      readonly text: string;
      /** The same for a log line. */
      readonly fields: LogFields;
    };

/** Shows long work on standard error; the only place that does. */
export interface Progress {
  update(update: ProgressUpdate): void;
  /** Takes the line away; what follows starts on a clean one. */
  done(): void;
}

export interface ProgressOptions {
  readonly io: Io;
  readonly logger: Logger;
  readonly enabled: boolean;
}

/** Work shorter than this shows nothing. */
const quietMs = 500;
const redrawMs = 100;
/** Off a terminal: a log line now and then, the first within two seconds. */
const firstLineMs = 1800;
const nextLineMs = 10_000;

/** One line redrawn on a terminal; elsewhere, log lines now and then. SIGUSR1 shows it at once. */
export function createProgress({ io, logger, enabled }: ProgressOptions): Progress {
  let startedAt: number | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest: ProgressUpdate | undefined;
  let drawn = false;
  let stopListening: (() => void) | undefined;

  const tell = () => {
    if (latest) logger.info("progress", { what: latest.what, ...figures(latest) });
  };
  const clear = () => {
    if (drawn) io.stderr.write("\r\u001b[K");
    drawn = false;
  };
  return {
    update: (update) => {
      latest = update;
      const now = io.clock.monotonic();
      startedAt ??= now;
      stopListening ??= io.onProgressSignal(tell);
      if (!enabled) return;
      if (io.stderr.isTTY) {
        if (now - startedAt < quietMs || now - shownAt < redrawMs) return;
        shownAt = now;
        drawn = true;
        io.stderr.write(`\r${line(update).slice(0, (io.stderr.columns ?? 80) - 1)}\u001b[K`);
      } else if (now - startedAt >= firstLineMs && now - shownAt >= nextLineMs) {
        shownAt = now;
        tell();
      }
    },
    done: () => {
      clear();
      stopListening?.();
      stopListening = undefined;
      startedAt = undefined;
      latest = undefined;
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
}

function figures(update: ProgressUpdate): LogFields {
  if ("fields" in update) return update.fields;
  const { bytes, totalBytes } = update;
  return { bytes, totalBytes, percent: percentOf(bytes, totalBytes) };
}

function line(update: ProgressUpdate): string {
  if ("text" in update) return `${update.what}  ${update.text}`;
  const { what, bytes, totalBytes } = update;
  return `${what}  ${percentOf(bytes, totalBytes)}%  ${formatBytes(bytes)} of ${formatBytes(totalBytes)}`;
}

function percentOf(bytes: number, totalBytes: number): number {
  return totalBytes > 0 ? Math.floor((100 * bytes) / totalBytes) : 100;
}
