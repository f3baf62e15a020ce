import type { Clock, Emitter } from "../core/index.ts";
import type { Notice, NoticeSource } from "../notice/index.ts";
import type { WorkQueue } from "../queue/index.ts";
import type { ItemData, ItemKey, JsonValue } from "../results/index.ts";

/** An item as a handler is given it: one line of the protocol. */
export interface HandlerItem {
  readonly id: string;
  readonly data: ItemData;
  /** 1 at the first attempt; failed attempts count, evictions do not. */
  readonly attempt: number;
}

/** What a handler answers for one item. */
export type HandlerAnswer =
  | { readonly id: string; readonly result: JsonValue }
  | { readonly id: string; readonly error: string; readonly permanent?: boolean };

/** A function that handles one item and gives its result; what it throws is the item's failure. */
export type HandleItem = (item: HandlerItem) => JsonValue | Promise<JsonValue>;

/** A function that handles a whole chunk and answers for each of its items. */
export type HandleBatch = (
  items: readonly HandlerItem[],
) => readonly HandlerAnswer[] | Promise<readonly HandlerAnswer[]>;

/** Who handles the items. */
export type HandlerSpec =
  /** A long-lived program that speaks newline-JSON on its standard input and output. */
  | { readonly kind: "command"; readonly command: readonly string[] }
  /** A TypeScript or JavaScript file whose default export (or `handle`) is the function; it runs in a process of its own. */
  | { readonly kind: "module"; readonly path: string }
  /** An endpoint that each item, or each chunk, is posted to. */
  | { readonly kind: "http"; readonly url: string };

/** How {@link createWorker} works. */
export interface WorkerOptions {
  /** Stays open; whoever opened it closes it. */
  readonly queue: WorkQueue;
  readonly handler: HandlerSpec;
  /** Hand the handler whole chunks instead of single items. @default false */
  readonly batch?: boolean;
  /** Items that are pulled, started and settled together. @default 10 */
  readonly chunk?: number;
  /** Handlers at work at the same time, each with a chunk of its own. @default 1 */
  readonly concurrency?: number;
  /** As the queue was opened with; leases are renewed three times as often. @default 30_000 */
  readonly leaseMs?: number;
  /** Time from a notice to the machine's end. @default 15_000 */
  readonly graceMs?: number;
  /** End with `drained` once every published item is settled, instead of waiting for more. @default false */
  readonly untilDrained?: boolean;
  /** Exit code after a notice. @default 75 */
  readonly exitOnEviction?: number;
  /** An item without an answer for so long has failed. @default none */
  readonly itemTimeoutMs?: number | undefined;
  /** A result whose JSON is larger is refused for good. @default 1 MiB */
  readonly maxResultBytes?: number;
  /** Delay before the second attempt; doubles from there. @default 1000 */
  readonly firstRetryMs?: number;
  /** @default 5 minutes */
  readonly maxRetryMs?: number;
  /** How long a queue that fails is tried again before the worker gives up. @default 5 minutes */
  readonly queuePatienceMs?: number;
  /** Where notices come from. @default none */
  readonly notices?: readonly NoticeSource[];
  /** Environment of the handler. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Working directory of the handler. @default the worker's own */
  readonly cwd?: string | undefined;
  /** Where the handler's standard error goes. @default the worker's own standard error */
  readonly onStderr?: (bytes: Uint8Array) => void;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default Math.random */
  readonly random?: () => number;
  /** Called when the process should have ended and has not. @default process.exit */
  readonly onOverdue?: (exitCode: number) => void;
}

/** What a worker has done so far. */
export interface WorkerCounts {
  /** Results stored. */
  readonly done: number;
  /** Failures stored that will be tried again. */
  readonly failed: number;
  /** Items that went to the dead letters. */
  readonly dead: number;
  /** Items given back unfinished, uncharged. */
  readonly handedBack: number;
  /** Results that came too late: another stood already. */
  readonly late: number;
  /** Settlements refused because the claim was no longer ours. */
  readonly refused: number;
  readonly leasesLost: number;
  /** Times a handler process ended by itself. */
  readonly handlerDeaths: number;
  /** Lines on the handler's standard output that were no answer, or one too many. */
  readonly junkLines: number;
}

/** Why a worker ended. */
export type WorkerVerdict = "drained" | "evicted" | "interrupted";

/** How a worker ended. */
export interface WorkerResult extends WorkerCounts {
  readonly verdict: WorkerVerdict;
  readonly exitCode: number;
  readonly tookMs: number;
  readonly noticeToEndMs: number | undefined;
}

/** What a worker tells while it runs. */
export interface WorkerEvents {
  "worker:settled": WorkerCounts;
  "worker:notice": { readonly notice: Notice; readonly effect: "first" | "repeat" | "planned" | "force" };
  "worker:handed-back": { readonly started: number; readonly prefetched: number };
  "worker:lease-lost": { readonly items: readonly ItemKey[] };
  "worker:dead": { readonly id: string; readonly error: string };
  "worker:failure": { readonly id: string; readonly error: string; readonly retryDelayMs: number };
  "worker:handler-started": { readonly pid: number };
  "worker:handler-ended": { readonly pid: number; readonly how: string };
  "worker:waiting": { readonly reason: string };
  "worker:warning": { readonly message: string; readonly [field: string]: unknown };
}

/** A worker at work. */
export interface Worker extends AsyncDisposable {
  /** Resolves when it has ended; rejects when it cannot go on. */
  readonly promise: Promise<WorkerResult>;
  readonly events: Emitter<WorkerEvents>;
  readonly counts: WorkerCounts;
  /** Hands back what is not finished and ends, as after an eviction notice. */
  stop(reason?: string): Promise<WorkerResult>;
  /** The same without waiting for the handler. */
  kill(): Promise<WorkerResult>;
}
