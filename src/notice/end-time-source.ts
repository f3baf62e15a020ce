import { readFile } from "node:fs/promises";
import { type Clock, systemClock, systemCode } from "../core/index.ts";
import { parseEndTime, readAnnotation } from "./end-time.ts";
import type { NoticeSource, NoticeWarning } from "./types.ts";

/** The pod annotation that says when the node ends. */
export const stopAtAnnotation = "outlast.dev/stop-at";

/** A source for an end that is known from the start (`--ends-at`). */
export function createEndTimeSource(endsAtMs: number): NoticeSource {
  return {
    name: "ends-at",
    start(onNotice) {
      onNotice({
        source: "ends-at",
        kind: "planned-end",
        reason: `known end at ${new Date(endsAtMs).toISOString()}`,
        endsAtMs,
      });
    },
  };
}

/** How {@link createEndTimeFileSource} reads its file. */
export interface EndTimeFileOptions {
  /** A downward-API file with `key="value"` lines. */
  readonly path: string;
  /** @default "outlast.dev/stop-at" */
  readonly key?: string;
  /** The kubelet itself refreshes such files about once a minute. @default 10_000 */
  readonly everyMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A source for an end that may be written, moved or taken back while the run goes on: the file is read again and again. */
export function createEndTimeFileSource(options: EndTimeFileOptions): NoticeSource {
  const { path, key = stopAtAnnotation, everyMs = 10_000, clock = systemClock } = options;
  return {
    name: "ends-at-file",
    start(onNotice, signal, onWarning) {
      void follow();
      async function follow() {
        let last: string | undefined;
        while (!signal.aborted) {
          const text = await readValue(path, key, onWarning);
          if (text !== undefined && text !== last && !signal.aborted) {
            last = text;
            try {
              const endsAtMs = parseEndTime(text, clock.now(), key);
              onNotice({ source: "ends-at-file", kind: "planned-end", reason: `${key} is ${text}`, endsAtMs });
            } catch (error) {
              onWarning?.(`${path}: ${error instanceof Error ? error.message : String(error)}`, error);
            }
          }
          await clock.sleep(everyMs, signal);
        }
      }
    },
  };
}

async function readValue(path: string, key: string, onWarning?: NoticeWarning): Promise<string | undefined> {
  try {
    return readAnnotation(await readFile(path, "utf8"), key) || undefined;
  } catch (error) {
    // The volume may be mounted a moment later, or swapped just now; anything else is worth a word.
    if (systemCode(error) !== "ENOENT") onWarning?.(`${path} could not be read`, error);
    return undefined;
  }
}
