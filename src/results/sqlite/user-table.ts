import type { SQLInputValue } from "node:sqlite";
import { OutlastError } from "../../core/index.ts";
import { quoteName } from "../quote-name.ts";
import type { ResultsTable } from "../results-url.ts";
import type { JsonValue } from "../types.ts";
import { hasTable } from "./schema.ts";
import type { SqliteFile, SqliteRow } from "./sqlite-file.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly isGenerated: boolean;
}

/** The user's own table of results: one row for each id, written over when it is there. */
export class UserTable {
  readonly #target: ResultsTable;
  readonly #fields: readonly string[];
  readonly #upsert: string;

  constructor(target: ResultsTable, hasTime: boolean) {
    this.#target = target;
    this.#fields = target.fields.kind === "whole" ? [target.fields.column] : target.fields.columns;
    const columns = [target.idColumn, ...this.#fields, ...(hasTime ? ["settled_at"] : [])].map(quoteName);
    const values = columns.map((_, i) => `?${i + 1}`).join(", ");
    const changes = columns.slice(1).map((column) => `${column} = excluded.${column}`);
    const id = quoteName(target.idColumn);
    this.#upsert = `INSERT INTO ${quoteName(target.table)} (${columns.join(", ")}) VALUES (${values}) ON CONFLICT (${id}) DO UPDATE SET ${changes.join(", ")}`;
    this.hasTime = hasTime;
  }

  readonly hasTime: boolean;

  /** Stores a result, inside a transaction of the caller. */
  store(file: SqliteFile, id: string, result: JsonValue, now: number): void {
    const values: SQLInputValue[] = [id, ...this.#values(result)];
    if (this.hasTime) values.push(new Date(now).toISOString());
    // A trigger or an ON CONFLICT clause of the user's may drop a row without a word.
    if (file.run(this.#upsert, ...values) !== 1) throw new ResultRefused(`the table ${this.#target.table} kept no row`);
  }

  /** Results after an id, in order of id. */
  page(file: SqliteFile, after: string | undefined, limit: number): { id: string; result: JsonValue }[] {
    const id = quoteName(this.#target.idColumn);
    const where = after === undefined ? "?1 IS NULL" : `${id} > ?1`;
    const columns = [id, ...this.#fields.map(quoteName)].map((column, i) => `${column} AS c${i}`).join(", ");
    const sql = `SELECT ${columns} FROM ${quoteName(this.#target.table)} WHERE ${where} ORDER BY ${id} LIMIT ?2`;
    return file.all(sql, after ?? null, limit).map((row) => ({ id: String(row["c0"]), result: this.#read(row) }));
  }

  /** SQL that is true where a row for the id in `column` is there. */
  has(column: string): string {
    return `EXISTS (SELECT 1 FROM ${quoteName(this.#target.table)} r WHERE r.${quoteName(this.#target.idColumn)} = ${column})`;
  }

  #values(result: JsonValue): SQLInputValue[] {
    if (this.#target.fields.kind === "whole") return [JSON.stringify(result)];
    if (typeof result !== "object" || result === null || Array.isArray(result)) {
      throw new ResultRefused(`the result must be an object with the fields ${this.#fields.join(", ")}`);
    }
    const fields = new Map(Object.entries(result));
    return this.#fields.map((name) => toSql(fields.get(name)));
  }

  #read(row: SqliteRow): JsonValue {
    const values = this.#fields.map((_, i) => fromSql(row[`c${i + 1}`]));
    if (this.#target.fields.kind === "whole") return parseLoosely(values[0] ?? null);
    return Object.fromEntries(this.#fields.map((name, i) => [name, values[i] ?? null]));
  }
}

/** A result that cannot be stored in the user's table: the item's fault, not the database's. */
export class ResultRefused extends Error {}

/** Checks the user's table, or says how to make it; inside a transaction of the caller. */
export function lookAtTable(file: SqliteFile, target: ResultsTable): { table: UserTable; missing: readonly string[] } {
  if (!hasTable(file, target.table)) return { table: new UserTable(target, true), missing: [createTable(target)] };
  const columns = readColumns(file, target.table);
  const wrong = findFaults(file, target, columns);
  if (wrong) {
    throw new OutlastError("OUTLAST_TABLE_UNSUITABLE", `the table ${target.table} in ${file.path} ${wrong.what}`, {
      operation: "open",
      target: `${file.path}?table=${target.table}`,
      hint: wrong.hint,
    });
  }
  return { table: new UserTable(target, takesTime(target, columns)), missing: [] };
}

/** The user's table, which must be there; inside a transaction of the caller. */
export function requireTable(file: SqliteFile, target: ResultsTable): UserTable {
  const { table, missing } = lookAtTable(file, target);
  if (missing.length === 0) return table;
  throw new OutlastError("OUTLAST_TABLE_UNSUITABLE", `there is no table ${target.table} in ${file.path}`, {
    operation: "open",
    target: `${file.path}?table=${target.table}`,
    hint: "name the table that the worker was given, with ?table=NAME; `outlast queue create` makes it",
  });
}

function createTable(target: ResultsTable): string {
  const fields =
    target.fields.kind === "whole" ? [`${quoteName(target.fields.column)} TEXT`] : target.fields.columns.map(quoteName);
  // Spelled like this when the user has a column of that name for something else.
  const time = namesOf(target).includes("settled_at") ? [] : ["settled_at TEXT"];
  const columns = [`${quoteName(target.idColumn)} TEXT NOT NULL PRIMARY KEY`, ...fields, ...time];
  return `CREATE TABLE ${quoteName(target.table)} (\n  ${columns.join(",\n  ")}\n)`;
}

function namesOf(target: ResultsTable): string[] {
  const fields = target.fields.kind === "whole" ? [target.fields.column] : target.fields.columns;
  return [target.idColumn, ...fields].map((name) => name.toLowerCase());
}

function takesTime(target: ResultsTable, columns: readonly Column[]): boolean {
  const isThere = columns.some((column) => column.name.toLowerCase() === "settled_at" && !column.isGenerated);
  return isThere && !namesOf(target).includes("settled_at");
}

function readColumns(file: SqliteFile, table: string): Column[] {
  return file
    .all('SELECT name, type, "notnull", dflt_value, hidden, pk FROM pragma_table_xinfo(?)', table)
    .map((row) => ({
      name: String(row["name"]),
      type: String(row["type"]),
      // The rowid's own column fills itself.
      isRequired: row["notnull"] === 1 && row["dflt_value"] === null,
      isGenerated: row["hidden"] !== 0,
    }));
}

function findFaults(
  file: SqliteFile,
  target: ResultsTable,
  columns: readonly Column[],
): { readonly what: string; readonly hint: string } | undefined {
  const wanted = namesOf(target);
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const absent = wanted.filter((name) => !byName.has(name) || byName.get(name)?.isGenerated);
  const has = `it has ${columns.map((column) => column.name).join(", ")}`;
  if (absent.length > 0) {
    return {
      what: `has no column ${absent.join(", ")}`,
      hint: `${has}; name columns with &id=…&result=… or &columns=a,b`,
    };
  }
  const type = byName.get(target.idColumn.toLowerCase())?.type.toUpperCase() ?? "";
  // By SQLite's rules of affinity; a number would make "7" and "07" one row.
  if (type !== "" && !/CHAR|CLOB|TEXT/.test(type)) {
    return {
      what: `has a column ${target.idColumn} of type ${type}`,
      hint: "ids are text: make it TEXT, or name another with &id=…",
    };
  }
  if (!isUnique(file, target)) {
    const hint = `make it the primary key: CREATE UNIQUE INDEX … ON ${quoteName(target.table)} (${quoteName(target.idColumn)})`;
    return { what: `does not keep ${target.idColumn} unique`, hint };
  }
  const filled = new Set([...wanted, ...(takesTime(target, columns) ? ["settled_at"] : [])]);
  const unfilled = columns.filter(
    ({ name, isRequired, isGenerated }) => isRequired && !isGenerated && !filled.has(name.toLowerCase()),
  );
  if (unfilled.length > 0) {
    const names = unfilled.map((column) => column.name).join(", ");
    return {
      what: `needs a value for ${names}, which outlast does not fill`,
      hint: "give it a default, or name it with &columns=…",
    };
  }
  return undefined;
}

/** One row for one id, compared byte by byte. */
function isUnique(file: SqliteFile, target: ResultsTable): boolean {
  const indexes = file.all('SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0', target.table);
  return indexes.some(({ name }) => {
    const columns = file.all("SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1", String(name));
    const [first] = columns;
    return (
      columns.length === 1 &&
      String(first?.["name"]).toLowerCase() === target.idColumn.toLowerCase() &&
      first?.["coll"] === "BINARY"
    );
  });
}

function toSql(value: JsonValue | undefined): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" ? JSON.stringify(value) : value;
}

function fromSql(value: unknown): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "number" || typeof value === "string" ? value : null;
}

/** Rows of the user's own making may hold anything. */
function parseLoosely(value: JsonValue): JsonValue {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
