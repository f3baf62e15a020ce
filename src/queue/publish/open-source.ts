import { createReadStream } from "node:fs";
import { glob, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { OutlastError, systemCode } from "../../core/index.ts";
import { readBucket } from "./read-bucket.ts";
import { readCsv } from "./read-csv.ts";
import { readJsonl } from "./read-jsonl.ts";
import type { SourceBatch, SourceFormat, SourceRow } from "./source.ts";

export interface OpenSourceOptions {
  readonly format: SourceFormat;
  readonly cwd: string;
  /** What `-` reads. */
  readonly stdin: Readable;
}

const batchFiles = 1000;

/**
 * The rows of a source: `-`, a table (CSV, TSV or JSON lines, gzipped or not), files by pattern, or the objects below a bucket's prefix. A
 * file that is not a table is an item of its own.
 */
export async function* openSource(location: string, options: OpenSourceOptions): AsyncGenerator<SourceBatch> {
  const { format, cwd, stdin } = options;
  if (location === "-") {
    yield* readTable(stdin, "standard input", format === "auto" ? "jsonl" : format);
    return;
  }
  if (/^(gs|s3):\/\//i.test(location)) {
    if (format !== "files" && formatOf(location)) throw tableInBucket(location);
    yield* readBucket(location);
    return;
  }
  let files: SourceRow[] = [];
  let count = 0;
  for await (const path of matching(location, cwd)) {
    count += 1;
    const table = format === "files" ? undefined : format === "auto" ? formatOf(path) : format;
    if (table) {
      yield* readTable(openFile(resolve(cwd, path)), path, table);
      continue;
    }
    files.push({ line: count, data: { path, size: await sizeOf(path, cwd) } });
    if (files.length < batchFiles) continue;
    yield { source: location, rows: files };
    files = [];
  }
  if (files.length > 0) yield { source: location, rows: files };
  if (count === 0) throw unreadable(location, "no file matches it", "quote the pattern, and check it with ls");
}

/** What a name says of the contents: undefined when it is not a table. */
function formatOf(path: string): "csv" | "tsv" | "jsonl" | undefined {
  const extension = /\.(csv|tsv|jsonl|ndjson)(\.gz)?$/i.exec(path)?.[1]?.toLowerCase();
  if (extension === "ndjson") return "jsonl";
  return extension as "csv" | "tsv" | "jsonl" | undefined;
}

async function* readTable(stream: Readable, source: string, format: SourceFormat): AsyncGenerator<SourceBatch> {
  const text = /\.gz$/i.test(source) ? stream.pipe(createGunzip()) : stream;
  // An error of the file itself does not pass through a pipe.
  if (text !== stream) stream.on("error", (error) => text.destroy(error));
  try {
    if (format === "csv" || format === "tsv") yield* readCsv(text, source, format === "csv" ? "," : "\t");
    else yield* readJsonl(text, source);
  } catch (error) {
    throw asUnreadable(source, error);
  } finally {
    stream.destroy();
  }
}

function openFile(path: string): Readable {
  return createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** Files of a pattern in a stable order, or the one file that is named. */
async function* matching(location: string, cwd: string): AsyncGenerator<string> {
  const found = await stat(resolve(cwd, location)).catch((error: unknown) => error);
  const isThere = !(found instanceof Error);
  if (!isThere && !/[*?[{]/.test(location)) throw asUnreadable(location, found);
  if (isThere) {
    if ((found as { isDirectory(): boolean }).isDirectory()) {
      throw unreadable(
        location,
        "it is a directory",
        `name what to publish in it, such as '${location.replace(/\/$/, "")}/**/*.jpg'`,
      );
    }
    yield location;
    return;
  }
  const paths: string[] = [];
  for await (const path of glob(location, { cwd })) paths.push(path);
  for (const path of paths.sort()) {
    if ((await stat(resolve(cwd, path))).isFile()) yield path;
  }
}

async function sizeOf(path: string, cwd: string): Promise<number> {
  try {
    return (await stat(resolve(cwd, path))).size;
  } catch (error) {
    throw asUnreadable(path, error);
  }
}

function asUnreadable(source: string, error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof OutlastError || code === undefined) return error;
  const why = code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "permission denied" : String(error);
  return unreadable(source, why, "check the path; a pattern needs quotes, as in 'images/*.jpg'", error);
}

function unreadable(source: string, why: string, hint: string, cause?: unknown): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `cannot read ${source}: ${why}`, {
    hint,
    operation: "publish",
    target: source,
    ...(cause === undefined ? {} : { cause }),
  });
}

function tableInBucket(location: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${location} is a table in a bucket: its lines are not read from there`, {
    hint: "pipe it: `gcloud storage cat URL | outlast publish - --format csv …`; --format files takes the objects below the URL as items",
    operation: "publish",
    target: location,
  });
}
