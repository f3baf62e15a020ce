import { isOutlastError, OutlastError, systemCode } from "../../core/index.ts";

/** What a failed system call on a file of the checkpoint directory means to a user. */
export function fileError(error: unknown, operation: string, target: string): OutlastError {
  if (isOutlastError(error)) return error;
  const system = systemCode(error);
  const details = { operation, target, cause: error };
  if (system === "ENOSPC" || system === "EDQUOT") {
    return new OutlastError("OUTLAST_DISK_FULL", `cannot ${operation} ${target}: no space is left (${system})`, {
      ...details,
      hint: "free space on the volume of the checkpoint directory; nothing in the store was touched",
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  const isPassing = system === "EIO" || system === "ESTALE" || system === "ETIMEDOUT" || system === "EMFILE";
  return new OutlastError("OUTLAST_FILE_FAILED", `cannot ${operation} ${target}: ${reason}`, {
    ...details,
    hint:
      system === "EACCES" || system === "EPERM" || system === "EROFS"
        ? "give this user permission on the checkpoint directory"
        : "check the volume of the checkpoint directory",
    ...(isPassing && { recovery: "retry" as const }),
  });
}

/** The error of a source file that is no longer what was found complete. */
export function sourceChanged(path: string, what: string, cause?: unknown): OutlastError {
  return new OutlastError("OUTLAST_SOURCE_CHANGED", `${path} changed while it was being read: ${what}`, {
    operation: "read",
    target: path,
    recovery: "reset",
    hint: "the program wrote to it again or removed it; its next complete state will be taken instead",
    ...(cause === undefined ? {} : { cause }),
  });
}
