import { open, rename } from "node:fs/promises";
import type { JsonValue } from "../results/index.ts";

interface ResultRow {
  readonly id: string;
  readonly result: JsonValue;
}

export interface ExportOptions {
  readonly format: "csv" | "jsonl";
  /** Absolute path; standard output when left out. */
  readonly out: string | undefined;
  readonly write: (text: string) => void;
  readonly onProgress: (count: number) => void;
}

/** Rows that decide a table's columns. */
const headRows = 1000;
const batchRows = 500;

/** Writes results as they come; a file appears only when it is whole. */
export async function exportResults(
  rows: AsyncIterable<ResultRow>,
  { format, out, write, onProgress }: ExportOptions,
): Promise<{ readonly results: number; readonly otherFields: readonly string[] }> {
  const part = out === undefined ? undefined : `${out}.part`;
  const file = part === undefined ? undefined : await open(part, "w");
  const put = async (text: string) => {
    if (file) await file.write(text);
    else write(text);
  };
  const table = format === "csv" ? new CsvTable() : undefined;
  let results = 0;
  let batch: string[] = [];
  try {
    for await (const row of rows) {
      results += 1;
      batch.push(...(table ? table.lines(row) : [JSON.stringify({ id: row.id, result: row.result })]));
      if (batch.length < batchRows) continue;
      await put(`${batch.join("\n")}\n`);
      batch = [];
      onProgress(results);
    }
    batch.push(...(table?.rest() ?? []));
    if (batch.length > 0) await put(`${batch.join("\n")}\n`);
    await file?.sync();
  } finally {
    await file?.close();
  }
  if (part !== undefined && out !== undefined) await rename(part, out);
  return { results, otherFields: table ? [...table.otherFields] : [] };
}

/** Rows as CSV; the first thousand decide the columns. */
class CsvTable {
  readonly otherFields = new Set<string>();
  #head: ResultRow[] = [];
  #columns: readonly string[] | undefined;

  /** Lines that are ready to be written, this row's among them sooner or later. */
  lines(row: ResultRow): string[] {
    if (this.#columns) return [this.#line(row, this.#columns)];
    this.#head.push(row);
    return this.#head.length < headRows ? [] : this.rest();
  }

  /** What was held back. */
  rest(): string[] {
    if (this.#columns) return [];
    const fields = new Set(this.#head.flatMap(({ result }) => (isObject(result) ? Object.keys(result) : ["result"])));
    const columns = [...fields];
    this.#columns = columns;
    const lines = this.#head.map((row) => this.#line(row, columns));
    this.#head = [];
    return [["id", ...columns].map(quote).join(","), ...lines];
  }

  #line({ id, result }: ResultRow, columns: readonly string[]): string {
    const record: { readonly [key: string]: JsonValue } = isObject(result) ? result : { result };
    for (const key of Object.keys(record)) if (!columns.includes(key)) this.otherFields.add(key);
    return [id, ...columns.map((column) => asText(record[column]))].map(quote).join(",");
  }
}

function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
