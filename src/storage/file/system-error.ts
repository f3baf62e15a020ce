import { type ErrorCode, type ErrorDetails, isOutlastError, OutlastError, systemCode } from "../../core/index.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
  readonly recovery?: ErrorDetails["recovery"];
}

const full: Meaning = {
  code: "OUTLAST_DISK_FULL",
  what: "no space is left",
  hint: "free space on that volume, or lower --keep and run `outlast checkpoints prune`",
};
const refused: Meaning = {
  code: "OUTLAST_STORE_NOT_WRITABLE",
  what: "permission was refused",
  hint: "give this user read and write permission on the store's directory, or choose another store",
};
const passing: Meaning = {
  code: "OUTLAST_STORE_FAILED",
  what: "the file system failed",
  hint: "if it goes on, check the volume or the network file server",
  recovery: "retry",
};
const busy: Meaning = {
  ...passing,
  what: "the system is out of resources for now",
  hint: "raise the limits of this process",
};

const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: { ...full, what: "the quota is used up" },
  EACCES: refused,
  EPERM: refused,
  EROFS: { ...refused, what: "the file system is read-only", hint: "mount it read-write, or choose another store" },
  EIO: passing,
  ESTALE: { ...passing, what: "the network file server no longer knows the file" },
  ETIMEDOUT: { ...passing, what: "the file server did not answer in time" },
  EBUSY: passing,
  EAGAIN: passing,
  EINTR: passing,
  EMFILE: busy,
  ENFILE: busy,
  ENOMEM: busy,
};

/** What a failed system call on the store's directory means to a user. */
export function storeError(error: unknown, operation: string, target: string): OutlastError {
  if (isOutlastError(error)) return error;
  const system = systemCode(error);
  const meaning = system === undefined ? undefined : meanings[system];
  const details = { operation, target, cause: error };
  if (meaning) {
    const isRefusedRead =
      meaning.code === "OUTLAST_STORE_NOT_WRITABLE" && (operation === "get" || operation === "list");
    return new OutlastError(
      isRefusedRead ? "OUTLAST_STORE_FAILED" : meaning.code,
      `cannot ${operation} ${target}: ${meaning.what} (${system})`,
      {
        ...details,
        hint: meaning.hint,
        ...(meaning.recovery && { recovery: meaning.recovery }),
      },
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  // ENOENT under a write: the aside file was swept or a folder removed while it was in use; another attempt makes them anew.
  return new OutlastError("OUTLAST_STORE_FAILED", `cannot ${operation} ${target}: ${reason}`, {
    ...details,
    hint: "check that nothing else changes files inside the store's directory",
    ...(system === "ENOENT" && { recovery: "retry" as const }),
  });
}

/** The error of a read that finds nothing. */
export function notFound(operation: string, target: string, cause?: unknown): OutlastError {
  return new OutlastError("OUTLAST_OBJECT_NOT_FOUND", `there is no object ${target} in the store`, {
    operation,
    target,
    hint: "it was never stored, or it was deleted meanwhile",
    ...(cause === undefined ? {} : { cause }),
  });
}
