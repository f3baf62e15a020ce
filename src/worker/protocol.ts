import { formatBytes } from "../core/index.ts";
import type { JsonValue } from "../results/index.ts";
import type { HandlerItem } from "./types.ts";

/** What an item's answer means. */
export type ItemAnswer =
  | { readonly kind: "result"; readonly result: JsonValue }
  | { readonly kind: "failure"; readonly error: string; readonly permanent: boolean };

/** One line of a handler, understood. */
export type ReadLine =
  | { readonly kind: "answers"; readonly answers: readonly { readonly id: string; readonly answer: ItemAnswer }[] }
  /** Not an answer: a print that strayed onto standard output. */
  | { readonly kind: "junk" };

/** Longest error text that is kept. */
const errorLimit = 4000;

/** The lines that hand items to a handler. */
export function writeItems(items: readonly HandlerItem[], isBatch: boolean): string {
  if (isBatch) return `${JSON.stringify({ items })}\n`;
  let text = "";
  for (const item of items) text += `${JSON.stringify(item)}\n`;
  return text;
}

/** Reads one line of a handler's answers. */
export function readAnswerLine(line: string, isBatch: boolean, maxResultBytes: number): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Not JSON is not an answer; the caller counts and shows the line.
    return { kind: "junk" };
  }
  return readAnswers(value, isBatch, maxResultBytes, line.length);
}

/** Reads a parsed answer: one item's, or `{"results": […]}`. */
export function readAnswers(value: unknown, isBatch: boolean, maxResultBytes: number, length: number): ReadLine {
  if (!isRecord(value)) return { kind: "junk" };
  const list = isBatch ? value["results"] : [value];
  if (!Array.isArray(list)) return { kind: "junk" };
  const answers: { id: string; answer: ItemAnswer }[] = [];
  for (const one of list as unknown[]) {
    if (!isRecord(one) || typeof one["id"] !== "string") {
      if (!isBatch) return { kind: "junk" };
      continue;
    }
    answers.push({ id: one["id"], answer: readAnswer(one, maxResultBytes, length) });
  }
  return { kind: "answers", answers };
}

function readAnswer(one: Record<string, unknown>, maxResultBytes: number, length: number): ItemAnswer {
  const { result, error } = one;
  if (error !== undefined && error !== null) {
    return failure(typeof error === "string" ? error : JSON.stringify(error), one["permanent"] === true);
  }
  if (result === undefined) {
    return failure(`the handler's answer has neither "result" nor "error": ${shorten(JSON.stringify(one))}`, false);
  }
  // A character is at most three bytes of UTF-8: most lines need no second look.
  if (length * 3 > maxResultBytes) {
    const bytes = Buffer.byteLength(JSON.stringify(result));
    if (bytes > maxResultBytes) return tooLarge(bytes, maxResultBytes);
  }
  return { kind: "result", result: result as JsonValue };
}

/** A failure with its text cut to what is worth keeping. */
export function failure(error: string, permanent: boolean): ItemAnswer {
  return { kind: "failure", error: shorten(error || "the handler gave no reason", errorLimit), permanent };
}

/** A result that is not stored. */
export function tooLarge(bytes: number, maxResultBytes: number): ItemAnswer {
  return failure(
    `the result is ${formatBytes(bytes)}, larger than --max-result ${formatBytes(maxResultBytes)}: store it elsewhere and answer with where it is`,
    true,
  );
}

/** The id at the beginning of an answer that was too long to read. */
export function idAtHead(head: string): string | undefined {
  const text = /^\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(head)?.[1];
  return text === undefined ? undefined : String(JSON.parse(text));
}

/** Text of a bounded length for messages. */
export function shorten(text: string, limit = 200): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
