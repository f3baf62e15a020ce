import type { Readable } from "node:stream";
import type { ItemData } from "../../results/index.ts";
import { longestLine, type SourceBatch, type SourceRow } from "./source.ts";

const newline = 10;

/** Reads newline-delimited JSON objects; a batch is what came in one piece. */
export async function* readJsonl(stream: Readable, source: string): AsyncGenerator<SourceBatch> {
  let rest: Buffer[] = [];
  let restSize = 0;
  let line = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    const rows: SourceRow[] = [];
    let from = 0;
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      line += 1;
      const whole = restSize === 0 ? piece.subarray(from, at) : Buffer.concat([...rest, piece.subarray(from, at)]);
      const isLong = restSize > longestLine;
      rest = [];
      restSize = 0;
      from = at + 1;
      const row = isLong ? tooLong(line) : readRow(whole, line);
      if (row) rows.push(row);
    }
    const tail = piece.subarray(from);
    restSize += tail.length;
    // Of a line that is too long only the length is kept.
    if (restSize > longestLine) rest = [];
    else if (tail.length > 0) rest.push(tail);
    if (rows.length > 0) yield { source, rows };
  }
  if (restSize === 0) return;
  line += 1;
  const row = restSize > longestLine ? tooLong(line) : readRow(Buffer.concat(rest), line);
  if (row) yield { source, rows: [row] };
}

function tooLong(line: number): SourceRow {
  return { line, problem: `the line is longer than ${longestLine / 1024 / 1024} MiB` };
}

function readRow(bytes: Buffer, line: number): SourceRow | undefined {
  const text = bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trim();
  if (text === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, problem: `it is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { line, problem: `it is not a JSON object: ${text.slice(0, 80)}` };
  }
  const number = inexactNumber(text);
  if (number !== undefined) {
    return { line, problem: `the number ${number} cannot be kept exactly: write it in quotes` };
  }
  return { line, data: value as ItemData };
}

/** A number with more digits than JavaScript keeps: handed on, it would be another one. */
function inexactNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const [number] of outside.matchAll(/-?\d{16,}(?![\d.eE])/g)) {
    if (!Number.isSafeInteger(Number(number))) return number;
  }
  return undefined;
}
