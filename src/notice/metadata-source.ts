import { readFileSync } from "node:fs";
import { type Clock, systemClock } from "../core/index.ts";
import { getMetadata, type MetadataAnswer } from "./metadata-client.ts";
import type { Notice, NoticeSource, NoticeWarning } from "./types.ts";

/** How {@link createMetadataSource} asks. */
export interface MetadataSourceOptions {
  /** Host and port. @default GCE_METADATA_HOST, else metadata.google.internal */
  readonly host?: string;
  /** @default systemClock */
  readonly clock?: Clock;
  /** How long one long poll may hang before it is asked again. @default 60_000 */
  readonly pollMs?: number;
  /** Shortest time between two questions about one value, so that a server that answers at once is not flooded. @default 1_000 */
  readonly pauseMs?: number;
}

interface Watched {
  readonly path: string;
  readonly read: (body: string) => string | undefined;
}

const watched: readonly Watched[] = [
  {
    path: "instance/preempted",
    read: (body) => (body === "TRUE" ? "the instance is being preempted" : undefined),
  },
  {
    path: "instance/maintenance-event",
    read: (body) =>
      body.startsWith("TERMINATE") ? `the instance is being ended for host maintenance (${body})` : undefined,
  },
];

/**
 * Notices from the GCE metadata server, by long polling. A pod under Workload Identity gets 404 and a laptop reaches nothing: both mean
 * "not here", and the source goes quiet.
 */
export function createMetadataSource(options: MetadataSourceOptions = {}): NoticeSource {
  const { clock = systemClock, pollMs = 60_000, pauseMs = 1_000 } = options;
  const host = options.host ?? process.env["GCE_METADATA_HOST"] ?? "metadata.google.internal";
  return {
    name: "metadata",
    start(onNotice, signal, onWarning) {
      for (const item of watched) void follow(item, onNotice, signal, onWarning);
    },
  };

  async function follow(
    item: Watched,
    onNotice: (notice: Notice) => void,
    signal: AbortSignal,
    onWarning?: NoticeWarning,
  ) {
    let etag: string | undefined;
    let answered = false;
    let failures = 0;
    while (!signal.aborted) {
      // The first question asks for the present value: a notice that came before us counts too.
      const query = etag === undefined ? "" : waitQuery(etag, pollMs);
      let answer: MetadataAnswer | undefined;
      try {
        answer = await getMetadata(host, item.path + query, etag === undefined ? 5_000 : pollMs + 10_000, signal);
      } catch (error) {
        if (signal.aborted || !answered) return;
        if (failures === 0) onWarning?.(`the metadata server stopped answering about ${item.path}`, error);
      }
      if (answer?.status === 404) return;
      if (answer?.status === 200) {
        answered = true;
        failures = 0;
        etag = answer.etag ?? "0";
        const reason = item.read(answer.body);
        if (reason !== undefined) return onNotice({ source: "metadata", kind: "eviction", reason });
      } else {
        failures += 1;
        if (!answered && failures >= 5) return;
      }
      await clock.sleep(Math.min(30_000, pauseMs * 2 ** Math.min(failures, 10)), signal);
    }
  }
}

function waitQuery(etag: string, pollMs: number): string {
  return `?wait_for_change=true&timeout_sec=${Math.ceil(pollMs / 1000)}&last_etag=${encodeURIComponent(etag)}`;
}

/** Whether this machine says it is a Compute Engine VM, or a metadata host is named; asks nobody, so it cannot delay a start. */
export function isOnComputeEngine(
  env: Readonly<Record<string, string | undefined>> = process.env,
  productFile = "/sys/class/dmi/id/product_name",
): boolean {
  if (env["GCE_METADATA_HOST"]) return true;
  try {
    return readFileSync(productFile, "utf8").startsWith("Google");
  } catch {
    // Not Linux, or a sandbox that hides the file: then only a named host turns the source on.
    return false;
  }
}
