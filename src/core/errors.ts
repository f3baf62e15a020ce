import { exitCodes } from "./exit-codes.ts";

/** Every error code, what it means, and the exit code a command ends with when it reaches the top. */
export const errorCodes = {
  OUTLAST_USAGE: { exit: exitCodes.usage, means: "A flag, argument or value is wrong." },
  OUTLAST_CONFIG: { exit: exitCodes.usage, means: "A variable or configuration file holds a wrong or unknown key." },
  OUTLAST_STORE_UNREACHABLE: { exit: exitCodes.failed, means: "The store could not be reached." },
  OUTLAST_STORE_UNSUITABLE: {
    exit: exitCodes.usage,
    means: "The store cannot give the guarantees that safe commits need (create-if-absent, durable writes).",
  },
  OUTLAST_STORE_NOT_WRITABLE: { exit: exitCodes.usage, means: "The store refuses writes." },
  OUTLAST_STORE_DENIED: {
    exit: exitCodes.usage,
    means: "The store refused the credentials, or none were found, or they may not do what was asked.",
  },
  OUTLAST_BUCKET_MISSING: {
    exit: exitCodes.usage,
    means: "The bucket does not exist, or is not where it was looked for.",
  },
  OUTLAST_STORE_FAILED: { exit: exitCodes.failed, means: "A storage call failed." },
  OUTLAST_OBJECT_NOT_FOUND: { exit: exitCodes.failed, means: "An object that was asked for is not in the store." },
  OUTLAST_DISK_FULL: { exit: exitCodes.failed, means: "No space is left where a file had to be written." },
  OUTLAST_DATABASE_UNREACHABLE: {
    exit: exitCodes.failed,
    means: "The database could not be reached, or was busy too long.",
  },
  OUTLAST_DATABASE_UNSUITABLE: {
    exit: exitCodes.usage,
    means:
      "The database cannot hold a queue or results: wrong file system, not a database, or made by a newer outlast.",
  },
  OUTLAST_DATABASE_DENIED: {
    exit: exitCodes.usage,
    means: "The database refused the login, or does not allow this user what was asked.",
  },
  OUTLAST_DATABASE_NOT_WRITABLE: { exit: exitCodes.usage, means: "The database refuses writes." },
  OUTLAST_DATABASE_FAILED: { exit: exitCodes.failed, means: "A database call failed." },
  OUTLAST_TABLE_UNSUITABLE: {
    exit: exitCodes.usage,
    means: "The results table has the wrong shape: its id is not unique, or columns are missing or cannot be filled.",
  },
  OUTLAST_DIR_MISSING: { exit: exitCodes.usage, means: "A directory that must exist does not." },
  OUTLAST_RUN_UNKNOWN: { exit: exitCodes.usage, means: "The store holds no run of that name." },
  OUTLAST_RUN_TAKEN: {
    exit: exitCodes.usage,
    means: "A copy would go into a run that is not a copy of the same source.",
  },
  OUTLAST_CHECKPOINT_UNKNOWN: { exit: exitCodes.usage, means: "The run holds no checkpoint of that step." },
  OUTLAST_MANIFEST_INVALID: {
    exit: exitCodes.noGoodCheckpoint,
    means: "A manifest is malformed or names a path outside the checkpoint directory.",
  },
  OUTLAST_LOG_INVALID: { exit: exitCodes.noGoodCheckpoint, means: "A log record is malformed." },
  OUTLAST_LOG_LOST: { exit: exitCodes.noGoodCheckpoint, means: "Checkpoint data is there but its log is gone." },
  OUTLAST_NO_GOOD_CHECKPOINT: {
    exit: exitCodes.noGoodCheckpoint,
    means: "Checkpoints exist but none verifies; starting over silently was refused.",
  },
  OUTLAST_CHECKPOINT_DAMAGED: {
    exit: exitCodes.failed,
    means: "A checkpoint's bytes are missing or differ from its manifest.",
  },
  OUTLAST_SUPERSEDED: { exit: exitCodes.superseded, means: "A later start of the same run took over." },
  OUTLAST_GANG_ENDED: {
    exit: exitCodes.evicted,
    means: "Another shard of the run started anew; all shards resume together.",
  },
  OUTLAST_SOURCE_CHANGED: { exit: exitCodes.failed, means: "A checkpoint's files changed while they were being read." },
  OUTLAST_FILE_FAILED: { exit: exitCodes.failed, means: "A local file could not be read or written." },
  OUTLAST_HASH_UNAVAILABLE: {
    exit: exitCodes.usage,
    means: "The run's hash function is not available on this machine.",
  },
  OUTLAST_CHILD_NOT_STARTED: { exit: exitCodes.usage, means: "The program could not be started." },
  OUTLAST_QUEUE_UNREACHABLE: {
    exit: exitCodes.failed,
    means: "The queue failed for longer than a worker waits; nothing is lost, unfinished items come back.",
  },
  OUTLAST_HANDLER_FAILED: {
    exit: exitCodes.failed,
    means: "The handler cannot work at all: it ends before it answers anything, or its endpoint is not there.",
  },
  OUTLAST_JOB_REJECTED: {
    exit: exitCodes.failed,
    means: "A handler refused an item for good; thrown by handlers, it sends the item straight to the dead letters.",
  },
  OUTLAST_SOURCE_INVALID: {
    exit: exitCodes.failed,
    means: "A source to publish holds a line that cannot be read, or an item without a usable id.",
  },
  OUTLAST_DEADLINE: { exit: exitCodes.failed, means: "The time for a step ran out." },
  OUTLAST_LINT_FAILED: {
    exit: exitCodes.internal,
    means: "The linter itself failed; the files may be right or wrong.",
  },
  OUTLAST_DEMO_FAILED: {
    exit: exitCodes.failed,
    means: "The demo's disturbed run did not end like the undisturbed one.",
  },
  OUTLAST_QUEUE_MISSING: { exit: exitCodes.usage, means: "The queue's topic or subscription does not exist." },
  OUTLAST_QUEUE_DENIED: {
    exit: exitCodes.usage,
    means: "The queue's broker refused the credentials, or does not allow them what was asked.",
  },
  OUTLAST_QUEUE_UNSUITABLE: { exit: exitCodes.usage, means: "The queue is set up in a way that would lose items." },
  OUTLAST_QUEUE_FAILED: { exit: exitCodes.failed, means: "A call to the queue's broker failed." },
  OUTLAST_ITEM_TOO_LARGE: { exit: exitCodes.usage, means: "An item is larger than the queue can carry." },
} as const;

/** A stable name for a kind of failure; see docs/reference/errors.md. */
export type ErrorCode = keyof typeof errorCodes;

/** Whether doing the same again can help: `retry` yes, `reset` after reading state anew, `give-up` no. */
export type Recovery = "retry" | "reset" | "give-up";

/** What an {@link OutlastError} carries besides its code and message. */
export interface ErrorDetails {
  /** What the reader should do now. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** The operation that failed, such as `put`. */
  readonly operation?: string;
  /** The object it failed on: a key, path or URL. */
  readonly target?: string;
  /** @default "give-up" */
  readonly recovery?: Recovery;
  /** How long the other side asked us to wait before trying again. */
  readonly retryAfterMs?: number | undefined;
}

/** An expected failure: it says what failed, on which object, and what to do. */
export class OutlastError extends Error {
  override readonly name: string = "OutlastError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly operation: string | undefined;
  readonly target: string | undefined;
  readonly recovery: Recovery;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.operation = details.operation;
    this.target = details.target;
    this.recovery = details.recovery ?? "give-up";
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The exit code of a command that ends with this error. */
  get exitCode(): number {
    return errorCodes[this.code].exit;
  }
}

/** Whether `error` is an {@link OutlastError}, of one of the given codes if any are given. */
export function isOutlastError(error: unknown, ...codes: readonly ErrorCode[]): error is OutlastError {
  return error instanceof OutlastError && (codes.length === 0 || codes.includes(error.code));
}

/** The `code` of a Node system error (`ENOENT`, `EEXIST` …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Marks a branch that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
