/**
 * The process in which a `--handler` file runs: reads items on standard input, calls the file's function, answers on descriptor 3. Standard
 * output is free for the function's own prints; the worker shows them on standard error.
 */
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import type { HandleBatch, HandleItem, HandlerAnswer, HandlerItem } from "./types.ts";

const [, , path = "", mode] = process.argv;
const answers = createWriteStream("", { fd: 3 });
const isBatch = mode === "batch";

const handle = await load(path);
for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  if (line === "") continue;
  answers.write(`${JSON.stringify(isBatch ? await handleBatch(line) : await handleItem(line))}\n`);
}
answers.end();

async function load(file: string): Promise<unknown> {
  const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown; handle?: unknown };
  const found = typeof loaded.default === "function" ? loaded.default : loaded.handle;
  if (typeof found === "function") return found;
  process.stderr.write(`${file} exports no function: give it a default export, or one called "handle"\n`);
  process.exit(1);
}

async function handleItem(line: string): Promise<HandlerAnswer> {
  const item = JSON.parse(line) as HandlerItem;
  try {
    return { id: item.id, result: (await (handle as HandleItem)(item)) ?? null };
  } catch (error) {
    return { id: item.id, ...describe(error) };
  }
}

async function handleBatch(line: string): Promise<{ results: readonly HandlerAnswer[] }> {
  const { items } = JSON.parse(line) as { items: readonly HandlerItem[] };
  try {
    return { results: await (handle as HandleBatch)(items) };
  } catch (error) {
    return { results: items.map(({ id }) => ({ id, ...describe(error) })) };
  }
}

function describe(error: unknown): { error: string; permanent?: true } {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { code, permanent } = (typeof error === "object" && error !== null ? error : {}) as {
    code?: unknown;
    permanent?: unknown;
  };
  return permanent === true || code === "OUTLAST_JOB_REJECTED" ? { error: text, permanent: true } : { error: text };
}
