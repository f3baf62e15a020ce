import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { type Clock, OutlastError, retry, systemClock } from "../../core/index.ts";
import type { ItemData, Ledger, NewItem } from "../../results/index.ts";
import { sendPending } from "../send-pending.ts";
import type { Broker } from "../types.ts";
import { IdSet } from "./id-set.ts";
import { itemOf } from "./item-of.ts";
import { openSource } from "./open-source.ts";
import type { SourceBatch, SourceFormat } from "./source.ts";

/** How {@link publish} publishes. */
export interface PublishOptions {
  readonly ledger: Ledger;
  /** The separate broker, where there is one. */
  readonly broker?: Broker | undefined;
  /** Files, patterns, bucket prefixes or `-`; or the items' data themselves, with a `name`. */
  readonly from: readonly string[] | AsyncIterable<ItemData> | Iterable<ItemData>;
  /** Names the publication when data is given. @default "items" */
  readonly name?: string;
  /** The column that holds the id. @default the hash of the data and the version */
  readonly id?: string | undefined;
  /** Names the configuration, such as the model: without `id`, another version makes every item new work. */
  readonly version?: string | undefined;
  /** @default "auto": by the file's name; standard input is JSON lines */
  readonly format?: SourceFormat | undefined;
  /** Go on after a line that cannot be read, instead of stopping there. @default false */
  readonly skipBad?: boolean;
  /** Read and check everything, publish nothing. @default false */
  readonly dryRun?: boolean;
  /** Items in one transaction. @default 2000 */
  readonly batch?: number;
  /** @default process.cwd() */
  readonly cwd?: string;
  /** What `-` reads. @default process.stdin */
  readonly stdin?: Readable;
  /** Stops after the batch under way; publishing again goes on where it stopped. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (counts: PublishCounts) => void;
  /** A line that was skipped, or an id that came twice with other data (told once). */
  readonly onWarning?: (message: string) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** How far publishing is. */
export interface PublishCounts {
  /** Rows that were read. */
  readonly read: number;
  /** Items that were new. */
  readonly added: number;
  /** Items that had been published before. */
  readonly known: number;
  /** Rows whose id an earlier row of this source had. */
  readonly duplicates: number;
  /** Lines that could not be read and were skipped. */
  readonly bad: number;
  /** Messages sent to a separate broker. */
  readonly sent: number;
}

/** What publishing did. */
export interface PublishResult extends PublishCounts {
  readonly publication: string;
  /** False when it was stopped before the end; the publication is still open then. */
  readonly isComplete: boolean;
  /** The first items, as workers will get them. */
  readonly first: readonly NewItem[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Turns a dataset into items of a queue. Publishing the same again adds nothing, so it may be killed at any moment and run again.
 *
 * @example
 * const { ledger, broker } = await openQueueParts("sqlite:jobs.db");
 * await publish({ ledger, broker, from: ["images.csv"], id: "path" });
 */
export async function publish(options: PublishOptions): Promise<PublishResult> {
  const { ledger, broker, id, version, skipBad = false, dryRun = false, batch = 2000, signal } = options;
  const clock = options.clock ?? systemClock;
  const publication = publicationName(options);
  const counts: Mutable<PublishCounts> = { read: 0, added: 0, known: 0, duplicates: 0, bad: 0, sent: 0 };
  const seen = new IdSet();
  const first: NewItem[] = [];
  let waiting = new Map<string, NewItem>();
  let hasWarned = false;
  const patient = <T>(act: () => Promise<T>) => retry(act, { clock, attempts: 8, signal });

  const flush = async () => {
    const items = [...waiting.values()];
    waiting = new Map();
    if (!dryRun && items.length > 0) {
      const added = await patient(() => ledger.add(items));
      counts.added += added;
      counts.known += items.length - added;
      // Row first, then the message, then the mark: killed in between, the next publish sends what is still pending.
      if (broker) counts.sent += await patient(() => sendPending(ledger, broker, { signal }));
    }
    options.onProgress?.(counts);
  };

  if (!dryRun) await patient(() => ledger.openPublication(publication));
  for await (const { source, rows } of batches(options)) {
    for (const row of rows) {
      counts.read += 1;
      const made = "problem" in row ? { problem: row.problem, isMissingColumn: false } : itemOf(row.data, id, version);
      if ("problem" in made) {
        // A column that no row has is a slip on the command line: skipping all rows would publish nothing and say so too late.
        if (!skipBad || (made.isMissingColumn && counts.read === 1)) throw badLine(source, row.line, made.problem);
        counts.bad += 1;
        if (counts.bad <= 5) options.onWarning?.(`${source}, line ${row.line}: ${made.problem}; skipped`);
        continue;
      }
      const { item, content } = made;
      const sight = seen.see(item.id, content);
      if (sight !== "new") {
        counts.duplicates += 1;
        if (sight === "other" && !hasWarned) {
          hasWarned = true;
          options.onWarning?.(
            `${source}, line ${row.line}: id "${item.id}" came before with other data; the first stands`,
          );
        }
        continue;
      }
      if (first.length < 3) first.push(item);
      waiting.set(item.id, item);
      if (waiting.size >= batch) await flush();
    }
    if (signal?.aborted) break;
  }
  await flush();
  const isComplete = !signal?.aborted;
  if (isComplete && !dryRun) {
    // What an earlier, killed publish left unsent.
    if (broker) counts.sent += await patient(() => sendPending(ledger, broker));
    await patient(() => ledger.closePublications(publication));
  }
  return { publication, isComplete, first, ...counts };
}

async function* batches(options: PublishOptions): AsyncGenerator<SourceBatch> {
  const { from, format = "auto", cwd = process.cwd(), stdin = process.stdin } = options;
  if (isLocations(from)) {
    for (const location of from) yield* openSource(location, { format, cwd, stdin });
    return;
  }
  let line = 0;
  for await (const data of from) {
    line += 1;
    yield { source: options.name ?? "items", rows: [{ line, data }] };
  }
}

/** The same source, `--id` and `--version` are the same publication: a second run closes what a killed one left open. */
function publicationName({ from, name = "items", id, version, cwd = process.cwd() }: PublishOptions): string {
  const source = isLocations(from)
    ? from.map((one) => (/^(-$|gs:|s3:)/i.test(one) ? one : resolve(cwd, one))).join(" ")
    : name;
  return [
    source,
    ...(id === undefined ? [] : [`id=${id}`]),
    ...(version === undefined ? [] : [`version=${version}`]),
  ].join(" ");
}

function isLocations(from: PublishOptions["from"]): from is readonly string[] {
  return Array.isArray(from) && from.every((one) => typeof one === "string");
}

function badLine(source: string, line: number, problem: string): OutlastError {
  return new OutlastError("OUTLAST_SOURCE_INVALID", `${source}, line ${line}: ${problem}`, {
    hint: "mend it and publish again (nothing is added twice), or skip such lines with --skip-bad",
    operation: "publish",
    target: source,
  });
}
