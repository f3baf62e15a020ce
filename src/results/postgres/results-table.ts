import { OutlastError } from "../../core/index.ts";
import { quoteName } from "../quote-name.ts";
import type { ResultsTable } from "../results-url.ts";
import type { Query } from "./postgres-database.ts";
import { quoteText } from "./quote-text.ts";

/** The user's table as it is. */
export interface TableShape {
  /** Schema and name, quoted. */
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
}

interface Column {
  readonly type: string;
  readonly isRequired: boolean;
  readonly isGenerated: boolean;
  readonly isUnique: boolean;
}

const timeColumn = "settled_at";

/** The table's name as SQL takes it. */
export function tableName({ schema, table }: ResultsTable): string {
  return schema === undefined ? quoteName(table) : `${quoteName(schema)}.${quoteName(table)}`;
}

/** The columns that take results. */
export function fieldColumns({ fields }: ResultsTable): readonly string[] {
  return fields.kind === "whole" ? [fields.column] : fields.columns;
}

/** The statement that makes the table. */
export function createTable(target: ResultsTable): string {
  const fields = fieldColumns(target).map((column) => `${quoteName(column)} jsonb`);
  const time = fillsTime(target, undefined) ? [`${quoteName(timeColumn)} timestamptz`] : [];
  const columns = [`${quoteName(target.idColumn)} text PRIMARY KEY`, ...fields, ...time];
  return `CREATE TABLE ${tableName(target)} (\n  ${columns.join(",\n  ")}\n)`;
}

/** Looks at the table; undefined when there is none. Throws when it cannot take results. */
export async function readTable(query: Query, target: ResultsTable): Promise<TableShape | undefined> {
  const [table] = await query<{ oid: string; kind: string; name: string; isAllowed: boolean }>(
    `SELECT c.oid::text AS oid, c.relkind AS kind, format('%I.%I', n.nspname, c.relname) AS name,
      has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AS "isAllowed"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`,
    [tableName(target)],
  );
  if (!table) return undefined;
  if (table.kind !== "r" && table.kind !== "p") throw unsuitable(target, "is not a table", "name a table, not a view");
  if (!table.isAllowed) {
    throw new OutlastError("OUTLAST_DATABASE_DENIED", `this user may not write to the table ${tableName(target)}`, {
      operation: "prepare",
      target: tableName(target),
      hint: `run as its owner: GRANT SELECT, INSERT, UPDATE ON ${table.name} TO …`,
    });
  }
  const columns = await query<Column & { name: string }>(
    `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, a.attgenerated <> '' OR a.attidentity = 'a' AS "isGenerated",
      a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "isRequired",
      EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indimmediate AND i.indisvalid
        AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum) AS "isUnique"
    FROM pg_attribute a WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [table.oid],
  );
  const shape = { name: table.name, columns: new Map(columns.map((column) => [column.name, column])) };
  check(shape, target);
  return shape;
}

function check({ columns }: TableShape, target: ResultsTable): void {
  const names = [target.idColumn, ...fieldColumns(target)];
  const has = `it has ${[...columns.keys()].join(", ")}`;
  const absent = names.filter((name) => !columns.has(name) || columns.get(name)?.isGenerated);
  if (absent.length > 0) {
    const hint = `${has}; name columns with &id=…&result=… or &columns=a,b (upper and lower case differ)`;
    throw unsuitable(target, `has no column ${absent.join(", ")} that can be written`, hint);
  }
  const id = columns.get(target.idColumn);
  // A number would make one row of "7" and "07".
  if (id && !isText(id.type)) {
    const hint = "ids are text: make it text, or name another with &id=…";
    throw unsuitable(target, `has a column ${target.idColumn} of type ${id.type}`, hint);
  }
  if (!id?.isUnique) {
    const hint = `CREATE UNIQUE INDEX ON ${tableName(target)} (${quoteName(target.idColumn)})`;
    throw unsuitable(target, `does not keep ${target.idColumn} unique by itself`, hint);
  }
  if (target.fields.kind === "whole") {
    const type = columns.get(target.fields.column)?.type ?? "";
    if (type !== "jsonb" && type !== "json" && !isText(type)) {
      const hint = "a whole result needs jsonb, json or text; for fields in columns of their own give &columns=a,b";
      throw unsuitable(target, `has a column ${target.fields.column} of type ${type}`, hint);
    }
  }
  const filled = new Set([...names, ...(fillsTime(target, columns) ? [timeColumn] : [])]);
  const unfilled = [...columns].filter(
    ([name, { isRequired, isGenerated }]) => isRequired && !isGenerated && !filled.has(name),
  );
  if (unfilled.length > 0) {
    const needed = unfilled.map(([name]) => name).join(", ");
    const hint = "give it a default, or name it with &columns=…";
    throw unsuitable(target, `needs a value for ${needed}, which outlast does not fill`, hint);
  }
}

/**
 * The part of a statement that stores results: `given` is a relation with `id` and `result` (JSON as text), already limited to what is
 * to be stored.
 */
export function upsertStatement(shape: TableShape, target: ResultsTable, given: string): string {
  const fields = fieldColumns(target);
  const time = fillsTime(target, shape.columns) ? [timeColumn] : [];
  const written = [target.idColumn, ...fields, ...time].map(quoteName);
  const isWhole = target.fields.kind === "whole";
  const type = shape.columns.get(fields[0] ?? "")?.type;
  const values = isWhole
    ? [type === "jsonb" || type === "json" ? `given.result::${type}` : "given.result"]
    : fields.map((field) => `r.${quoteName(field)}`);
  const record = isWhole
    ? ""
    : ` CROSS JOIN LATERAL jsonb_populate_record(NULL::${shape.name}, given.result::jsonb) AS r`;
  const changes = written.slice(1).map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${shape.name} (${written.join(", ")})
SELECT ${["given.id", ...values, ...time.map(() => "now()")].join(", ")} FROM ${given} AS given${record} ORDER BY given.id
ON CONFLICT (${quoteName(target.idColumn)}) DO UPDATE SET ${changes.join(", ")}`;
}

/** An expression for a row's result as JSON text; `row` is the table's alias. */
export function resultExpression(shape: TableShape, target: ResultsTable, row: string): string {
  const fields = fieldColumns(target);
  if (target.fields.kind === "whole") return `${row}.${quoteName(target.fields.column)}::text`;
  const pairs = fields.map((field) => `${quoteText(field)}, to_jsonb(${row}.${quoteName(field)})`);
  return `jsonb_build_object(${pairs.join(", ")})::text`;
}

/** Whether the time goes into a column, too: in a table of our making, or one that has such a column for it. */
function fillsTime(target: ResultsTable, columns: TableShape["columns"] | undefined): boolean {
  if ([target.idColumn, ...fieldColumns(target)].includes(timeColumn)) return false;
  if (!columns) return true;
  const column = columns.get(timeColumn);
  return column !== undefined && column.type.startsWith("timestamp") && !column.isGenerated;
}

function isText(type: string): boolean {
  return type === "text" || type.startsWith("character varying");
}

function unsuitable(target: ResultsTable, what: string, hint: string): OutlastError {
  const name = tableName(target);
  return new OutlastError("OUTLAST_TABLE_UNSUITABLE", `the table ${name} ${what}`, {
    operation: "prepare",
    target: name,
    hint,
  });
}
