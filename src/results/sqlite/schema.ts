import { OutlastError } from "../../core/index.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** Raised with every change of the tables; a file of a newer one is refused. */
const schemaVersion = 1;

/**
 * Items are keyed by a rowid in the order of publishing. Each index holds rows of one state only, so that a million settled items
 * cost a claim nothing. Settled items are counted as they settle: nothing counts them by reading them all.
 */
const ledgerTables: readonly string[] = [
  `CREATE TABLE outlast_items (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  data TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'done', 'dead')),
  visible_at INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  claim TEXT,
  claim_until INTEGER NOT NULL DEFAULT 0,
  is_alone INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  lonely INTEGER NOT NULL DEFAULT 0,
  accepted INTEGER NOT NULL DEFAULT 0,
  late INTEGER NOT NULL DEFAULT 0,
  late_claim TEXT,
  settled_claim TEXT,
  settled_as TEXT,
  settled_at INTEGER,
  error TEXT
)`,
  "CREATE INDEX outlast_items_pending ON outlast_items (visible_at, seq) WHERE state = 'pending'",
  "CREATE INDEX outlast_items_sent ON outlast_items (visible_at, seq) WHERE state = 'sent'",
  "CREATE INDEX outlast_items_dead ON outlast_items (seq) WHERE state = 'dead'",
  `CREATE TABLE outlast_publications (
  name TEXT PRIMARY KEY,
  opened_at INTEGER NOT NULL,
  closed_at INTEGER
)`,
  // Row 0 holds the totals; the others what was settled in a few seconds each. One page takes them all.
  `CREATE TABLE outlast_totals (
  bucket INTEGER PRIMARY KEY,
  settled INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  late INTEGER NOT NULL DEFAULT 0
)`,
  "INSERT INTO outlast_totals (bucket) VALUES (0)",
];

const brokerTables: readonly string[] = [
  `CREATE TABLE outlast_messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  data TEXT NOT NULL,
  visible_at INTEGER NOT NULL DEFAULT 0,
  receipt TEXT,
  UNIQUE (id, generation)
)`,
  "CREATE INDEX outlast_messages_ready ON outlast_messages (visible_at, seq)",
];

/** What a file can hold for us: items and results, or the messages of a queue whose results are elsewhere. */
export type Part = "ledger" | "broker";

const parts: Readonly<Record<Part, readonly string[]>> = { ledger: ledgerTables, broker: brokerTables };

/** The statements that would make what is missing; inside a transaction of the caller. */
export function missingTables(file: SqliteFile, part: Part): string[] {
  const version = readVersion(file, part);
  if (version === undefined) {
    const meta = hasTable(file, "outlast_meta")
      ? []
      : ["CREATE TABLE outlast_meta (part TEXT PRIMARY KEY, version INTEGER NOT NULL)"];
    return [...meta, ...parts[part], `INSERT INTO outlast_meta VALUES ('${part}', ${schemaVersion})`];
  }
  if (version > schemaVersion) {
    throw new OutlastError(
      "OUTLAST_DATABASE_UNSUITABLE",
      `${file.path} was made by a newer outlast (schema ${version})`,
      {
        operation: "open",
        target: file.path,
        hint: `this one knows schema ${schemaVersion}; use the newer outlast`,
      },
    );
  }
  return [];
}

/** Refuses a file that has no tables of ours yet. */
export function requireTables(file: SqliteFile, part: Part): void {
  if (missingTables(file, part).length === 0) return;
  const what = part === "ledger" ? "items and results" : "messages";
  throw new OutlastError("OUTLAST_DATABASE_UNSUITABLE", `${file.path} holds no ${what} of outlast yet`, {
    operation: "open",
    target: file.path,
    hint: "check the path; `outlast publish` and `outlast queue create` make what is needed",
  });
}

/** Whether there is a table or view of that name, written in any case. */
export function hasTable(file: SqliteFile, name: string): boolean {
  return (
    file.get("SELECT 1 FROM sqlite_schema WHERE lower(name) = lower(?) AND type IN ('table', 'view')", name) !==
    undefined
  );
}

function readVersion(file: SqliteFile, part: Part): number | undefined {
  if (!hasTable(file, "outlast_meta")) return undefined;
  const version = file.get("SELECT version FROM outlast_meta WHERE part = ?", part)?.["version"];
  return typeof version === "number" ? version : undefined;
}
