import { type ErrorCode, OutlastError, systemCode } from "../../core/index.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
  readonly hint: string;
  readonly heals?: boolean;
}

const unprepared: Meaning = {
  code: "OUTLAST_DATABASE_UNSUITABLE",
  says: "lacks a table or function of ours",
  hint: "run `outlast queue create` with the same URLs once",
};
const away: Meaning = {
  code: "OUTLAST_DATABASE_UNREACHABLE",
  says: "cannot be reached",
  hint: "check that it runs, its host and port, and the network between",
  heals: true,
};
const denied: Meaning = {
  code: "OUTLAST_DATABASE_DENIED",
  says: "refused the login",
  hint: "check the user and password in the URL (or PGPASSWORD) and the server's pg_hba.conf",
};
const forbidden: Meaning = {
  code: "OUTLAST_DATABASE_DENIED",
  says: "does not allow that to this user",
  hint: "let an administrator run what `outlast queue create --dry-run` prints, then grant USAGE on schema outlast, SELECT, INSERT, UPDATE, DELETE on its tables and the results table, and EXECUTE on its functions",
};
const nowhere: Meaning = {
  code: "OUTLAST_DATABASE_UNSUITABLE",
  says: "has no schema that this user may make the results table in",
  hint: "name one that it may use, as ?table=SCHEMA.NAME, or grant USAGE and CREATE on it",
};
const untrusted: Meaning = {
  code: "OUTLAST_DATABASE_UNREACHABLE",
  says: "cannot be trusted: its TLS certificate does not check out",
  hint: "give sslrootcert=FILE in the URL, or fix the certificate's name",
};
const busy: Meaning = {
  code: "OUTLAST_DATABASE_UNREACHABLE",
  says: "was busy too long",
  hint: "look for a long transaction that holds locks (pg_stat_activity), or a server under too much load",
  heals: true,
};
const conflict: Meaning = {
  code: "OUTLAST_DATABASE_FAILED",
  says: "undid the transaction because of another",
  hint: "it is safe to repeat",
  heals: true,
};

/** SQLSTATEs, or their first two characters, and what they mean to us. */
const meanings: Readonly<Record<string, Meaning>> = {
  "08": away,
  "28": denied,
  "40": conflict,
  "55P03": busy,
  "57014": busy,
  "57P01": away,
  "57P02": away,
  "57P03": away,
  "57P05": away,
  "53300": { ...busy, says: "has no connection left", hint: "raise max_connections, or put PgBouncer before it" },
  "53": { ...busy, says: "ran out of a resource", hint: "see the server's log" },
  "53100": { code: "OUTLAST_DISK_FULL", says: "has no space left on its disk", hint: "make room on the server" },
  "25006": {
    code: "OUTLAST_DATABASE_NOT_WRITABLE",
    says: "is read-only (a standby?)",
    hint: "give the primary's host; target_session_attrs is not known to this client",
    heals: true,
  },
  "3D000": {
    code: "OUTLAST_DATABASE_UNSUITABLE",
    says: "does not exist",
    hint: "create it first (createdb NAME), or mend its name in the URL",
  },
  "42501": forbidden,
  "3F000": unprepared,
  "42P01": unprepared,
  "42883": unprepared,
};

/** The five characters of a Postgres error; undefined when it is not one. */
export function sqlState(error: unknown): string | undefined {
  const code = systemCode(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("E") ? code : undefined;
}

/** Whether the data of one item, not the database, is what failed: a value that its column cannot hold, or a trigger that refused it. */
export function isDataError(error: unknown): boolean {
  const state = sqlState(error instanceof OutlastError ? error.cause : error);
  return state !== undefined && (/^(22|23|54)/.test(state) || state === "P0001");
}

/** What the client threw, as an error that says what to do. Never shows a password: `shown` must be free of it. */
export function translateError(error: unknown, operation: string, shown: string): OutlastError {
  if (error instanceof OutlastError) return error;
  const meaning = meaningOf(error);
  const what = messageOf(error);
  if (!meaning) {
    return new OutlastError("OUTLAST_DATABASE_FAILED", `${operation} on ${shown} failed: ${what}`, {
      operation,
      target: shown,
      cause: error,
      hint: "see the server's log; if it names a table of yours, check its columns, triggers and constraints",
    });
  }
  return new OutlastError(meaning.code, `the database ${shown} ${meaning.says}: ${what}`, {
    operation,
    target: shown,
    cause: error,
    hint: meaning.hint,
    recovery: meaning.heals ? "retry" : "give-up",
  });
}

function meaningOf(error: unknown): Meaning | undefined {
  const state = sqlState(error);
  if (state === "3F000" && error instanceof Error && /no schema has been selected/.test(error.message)) return nowhere;
  if (state !== undefined) return meanings[state] ?? meanings[state.slice(0, 2)];
  const code = systemCode(error) ?? "";
  const message = error instanceof Error ? error.message : "";
  if (/^(E[A-Z]+)$/.test(code) && !code.startsWith("ERR")) return away;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) return untrusted;
  if (/does not support SSL/i.test(message)) {
    return { ...untrusted, says: "speaks no TLS", hint: "take sslmode out of the URL, or turn TLS on at the server" };
  }
  if (/SASL|password must be/i.test(message)) return denied;
  if (/timeout/i.test(message)) return away;
  if (/terminated|closed|not queryable|hang up/i.test(message)) return away;
  return undefined;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses tried in vain come without a message of their own.
  return error.message || systemCode(error) || error.name;
}
