import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { OutlastError } from "../../core/index.ts";
import { longestLine, type SourceBatch, type SourceRow } from "./source.ts";

const batchRows = 1000;

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Reads a table with a header line; every value is a string. */
export async function* readCsv(stream: Readable, source: string, delimiter: "," | "\t"): AsyncGenerator<SourceBatch> {
  // Loaded only here: nobody else needs it.
  const { parse } = await import("csv-parse");
  let rows: SourceRow[] = [];
  let lastBad = 0;
  const parser = parse({
    bom: true,
    delimiter,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: longestLine,
    // Told as rows, so that whoever publishes decides whether to go on.
    skip_records_with_error: true,
    on_skip: (error) => {
      // One bad line may be told several times, once for each fault in it.
      if (!error || lineOf(error) === lastBad) return;
      lastBad = lineOf(error);
      rows.push({ line: lastBad, problem: error.message });
    },
    on_record: (fields: string[], { lines }) => ({ line: lines, fields }) as unknown as string[],
  });
  let broken: Error | undefined;
  const fed = pipeline(stream, parser).catch((error: unknown) => {
    // Thrown below, after the rows before it.
    broken = asError(error);
  });
  let header: readonly string[] | undefined;
  try {
    for await (const { line, fields } of parser as AsyncIterable<CsvRecord>) {
      if (!header) {
        header = checkHeader(fields, source);
        continue;
      }
      rows.push(rowOf(header, fields, line));
      if (rows.length < batchRows) continue;
      yield { source, rows };
      rows = [];
    }
  } catch (error) {
    // Leaving the loop breaks the pipe too; this is the reason, not that.
    await fed;
    broken = asError(error);
  }
  await fed;
  if (broken !== undefined) {
    if (!isCsvError(broken)) throw broken;
    rows.push({ line: lineOf(broken), problem: broken.message });
  }
  if (rows.length > 0) yield { source, rows };
}

function rowOf(header: readonly string[], fields: readonly string[], line: number): SourceRow {
  if (fields.length !== header.length) {
    return { line, problem: `it has ${fields.length} fields, the header has ${header.length}` };
  }
  const data: Record<string, string> = {};
  for (let i = 0; i < header.length; i += 1) data[header[i] ?? ""] = fields[i] ?? "";
  return { line, data };
}

function checkHeader(names: readonly string[], source: string): readonly string[] {
  const empty = names.findIndex((name) => name.trim() === "");
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (empty < 0 && double === undefined) return names;
  const fault = empty >= 0 ? `column ${empty + 1} has no name` : `two columns are called "${double}"`;
  throw new OutlastError("OUTLAST_SOURCE_INVALID", `${source}, line 1: ${fault}`, {
    hint: "the first line must name every column, each once",
    operation: "publish",
    target: source,
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the table could not be read", { cause: error });
}

function isCsvError(error: unknown): error is Error & { readonly lines?: number } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("CSV_");
}

function lineOf(error: object): number {
  return "lines" in error && typeof error.lines === "number" ? error.lines : 0;
}
