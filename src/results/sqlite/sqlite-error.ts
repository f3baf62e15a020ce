import { type ErrorCode, type ErrorDetails, isOutlastError, OutlastError } from "../../core/index.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
  readonly recovery?: ErrorDetails["recovery"];
}

const restore = "restore the file from a copy, or publish again into a new one";

/** By SQLite's primary result code. */
const meanings: Readonly<Record<number, Meaning>> = {
  3: notWritable("permission was refused"),
  5: busy("another process kept it locked"),
  6: busy("it is locked"),
  8: notWritable("it is read-only"),
  10: {
    code: "OUTLAST_DATABASE_FAILED",
    what: "the disk failed",
    hint: "check the volume; nothing that was reported as stored is lost",
    recovery: "retry",
  },
  11: { code: "OUTLAST_DATABASE_FAILED", what: "the file is damaged", hint: restore },
  13: {
    code: "OUTLAST_DISK_FULL",
    what: "no space is left",
    hint: "free space on that volume and start again; nothing that was reported as stored is lost",
  },
  14: {
    code: "OUTLAST_DATABASE_NOT_WRITABLE",
    what: "the file cannot be opened",
    hint: "check that its directory exists and that this user may write in it",
  },
  18: {
    code: "OUTLAST_DATABASE_FAILED",
    what: "a value is too large for a row",
    hint: "store large outputs elsewhere and return their name",
  },
  26: {
    code: "OUTLAST_DATABASE_UNSUITABLE",
    what: "the file is not an SQLite database",
    hint: "name another file; outlast makes it",
  },
};

function notWritable(what: string): Meaning {
  const hint = "give this user write permission on the file and its directory, or name another file";
  return { code: "OUTLAST_DATABASE_NOT_WRITABLE", what, hint };
}

function busy(what: string): Meaning {
  const hint = "look for another program that holds a long transaction on the file";
  return { code: "OUTLAST_DATABASE_UNREACHABLE", what, hint, recovery: "retry" };
}

/** SQLite's primary result code, or undefined where the error is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** Whether another connection holds the lock for now. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 5 || code === 6;
}

/** Whether the user's table refused a row (NOT NULL, CHECK, a type, a size). */
export function isRefusedRow(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 19 || code === 20 || code === 18;
}

/** What a failed call on a database file means to a user. */
export function databaseError(error: unknown, operation: string, path: string): OutlastError {
  if (isOutlastError(error)) return error;
  const code = sqliteCode(error);
  const meaning = code === undefined ? undefined : meanings[code];
  const details = { operation, target: path, cause: error };
  const reason = error instanceof Error ? error.message : String(error);
  if (!meaning) {
    const hint = "check that nothing else changes outlast's tables in that file";
    return new OutlastError("OUTLAST_DATABASE_FAILED", `cannot ${operation} in ${path}: ${reason}`, {
      ...details,
      hint,
    });
  }
  return new OutlastError(meaning.code, `cannot ${operation} in ${path}: ${meaning.what} (${reason})`, {
    ...details,
    hint: meaning.hint,
    ...(meaning.recovery && { recovery: meaning.recovery }),
  });
}
