import type { Edit, Fix } from "../rule.ts";
import type { Entry, Node } from "../source/node.ts";
import type { Span } from "../source/source-file.ts";

/** Spaces before a column, so that a new line stands under an old one. */
function indentOf({ file, start }: Span): string {
  return " ".repeat(file.position(start).column - 1);
}

/** Puts another value in a scalar's place and keeps its quotes. */
export function replaceValue(node: Node, value: string): Edit {
  const old = node.file.text.slice(node.start, node.end);
  const quote = node.style === "quoted" && (old[0] === '"' || old[0] === "'") ? old[0] : "";
  return { file: node.file, start: node.start, end: node.end, text: `${quote}${value}${quote}` };
}

/** Writes a scalar's own text in quotes. */
export function quoteValue(node: Node): Edit {
  const old = node.file.text.slice(node.start, node.end);
  return { file: node.file, start: node.start, end: node.end, text: `"${old}"` };
}

/**
 * Adds a key to a mapping, before one of its keys or before the first. A value of several lines, or one that begins with a newline,
 * is written as a block below the key.
 */
export function addEntry(map: Node, key: string, value: string, before?: Entry): Edit | undefined {
  const next = before ?? map.entries[0];
  if (!next || next.key.file !== map.file) return undefined;
  const { file } = map;
  const at = next.key.start;
  if (map.isFlow) return value.includes("\n") ? undefined : { file, start: at, end: at, text: `${key}: ${value}, ` };
  // A line that begins with something other than spaces and list dashes cannot take a line before it.
  if (/[^\s-]/.test(file.text.slice(file.startOfLine(file.position(at).line), at))) return undefined;
  const indent = indentOf(next.key);
  const lines = value.replace(/^\n/, "").split("\n");
  const text = value.includes("\n")
    ? `${key}:\n${lines.map((line) => `${indent}  ${line}`).join("\n")}`
    : `${key}: ${value}`;
  return { file, start: at, end: at, text: `${text}\n${indent}` };
}

/** Adds an entry to a list of mappings, written in one line of flow style, before the first. */
export function addItem(list: Node, item: string): Edit | undefined {
  const [first] = list.items;
  if (!first) return undefined;
  const { file } = list;
  if (list.isFlow) return { file, start: first.start, end: first.start, text: `${item}, ` };
  const line = file.startOfLine(file.position(first.start).line);
  const found = /^(\s*)- /.exec(file.text.slice(line, first.start + 2));
  if (!found) return undefined;
  return { file, start: line, end: line, text: `${found[1] ?? ""}- ${item}\n` };
}

/** A fix of edits that may be missing; without one of them there is no fix. */
export function fixOf(safety: Fix["safety"], title: string, ...edits: readonly (Edit | undefined)[]): Fix | undefined {
  const made = edits.flatMap((edit) => edit ?? []);
  return made.length === edits.length && made.every(({ file }) => !file.rendered)
    ? { safety, title, edits: made }
    : undefined;
}
