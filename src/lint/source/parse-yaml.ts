import { isAlias, isCollection, isMap, isScalar, isSeq, type ParsedNode, parseDocument } from "yaml";
import { Node } from "./node.ts";
import type { SourceFile, Span } from "./source-file.ts";

/** One document of a file. */
export interface YamlDocument {
  readonly span: Span;
  /** Undefined when it is empty, or when it cannot be read at all. */
  readonly root: Node | undefined;
  readonly error: { readonly message: string; readonly span: Span } | undefined;
}

/** Deeper than any real object; shallower than the stack. */
const deepest = 120;

/** Keys that `<<` may bring into one document. */
const mostMerged = 20_000;

/** Pieces between lines of three dashes: such a line ends a document wherever it stands. */
export function splitDocuments(file: SourceFile): Span[] {
  const { text } = file;
  const spans: Span[] = [];
  let start = 0;
  const mark = /^---(?=\s|$)/gm;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    if (found.index > start) spans.push({ file, start, end: found.index });
    start = found.index + 3;
  }
  if (start < text.length) spans.push({ file, start, end: text.length });
  return spans;
}

/** Reads one document. Never throws: what cannot be read is told as an error with its place. */
export function parseYaml(span: Span): YamlDocument {
  const { file, start, end } = span;
  const text = file.text.slice(start, end);
  if (isTooDeep(text)) return { span, root: undefined, error: { message: "is nested too deeply to be read", span } };
  try {
    // Keys that stand twice are looked for below: the parser's own check takes quadratic time.
    const document = parseDocument(text, {
      strict: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
      stringKeys: false,
    });
    // Go's parser, and so kubectl, takes escapes that YAML does not know.
    const first = document.errors.find(({ code }) => code !== "BAD_DQ_ESCAPE");
    if (first) {
      const at = { file, start: start + first.pos[0], end: start + Math.max(first.pos[1], first.pos[0] + 1) };
      return { span, root: undefined, error: { message: shorten(first.message), span: at } };
    }
    const root = document.contents ? new Converter(file, start).convert(document.contents, 0) : undefined;
    return { span, root, error: undefined };
  } catch (error) {
    // The parser recurses; what overflows it is no manifest. Anything else it throws is about this text, too.
    const message = error instanceof RangeError ? "is nested too deeply to be read" : "cannot be read as YAML";
    return { span, root: undefined, error: { message, span: { file, start, end: Math.min(end, start + 1) } } };
  }
}

function shorten(message: string): string {
  const line = message.split("\n")[0] ?? message;
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}

/** Whether brackets, dashes or indentation nest beyond the bound. Brackets in strings are counted too: few are left open. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 91 || code === 123) depth += 1;
    else if (code === 93 || code === 125) depth -= 1;
    if (depth > 500) return true;
  }
  return /(?:- ){200}|(?:\? ){200}|^ {2000}/m.test(text);
}

class Converter {
  readonly #file: SourceFile;
  readonly #base: number;
  readonly #anchors = new Map<string, Node>();
  #merged = 0;

  constructor(file: SourceFile, base: number) {
    this.#file = file;
    this.#base = base;
  }

  convert(node: ParsedNode, depth: number): Node {
    const [start, end] = node.range;
    const span = { file: this.#file, start: this.#base + start, end: this.#base + end };
    // An alias is the very node it names, so that a file of aliases to aliases stays as small as it is written.
    if (isAlias(node)) return this.#anchors.get(node.source) ?? new Node("scalar", span);
    const made = this.#shell(node, span);
    if (isCollection(node)) this.#fill(made, node, depth);
    if (node.anchor) this.#anchors.set(node.anchor, made);
    return made;
  }

  #shell(node: ParsedNode, span: Span): Node {
    if (isMap(node)) return new Node("map", span, { isFlow: node.flow === true });
    if (isSeq(node)) return new Node("list", span, { isFlow: node.flow === true });
    if (!isScalar(node)) return new Node("scalar", span);
    const { value, type } = node;
    const isKnown = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    const style =
      type === "BLOCK_LITERAL"
        ? "literal"
        : type === "BLOCK_FOLDED"
          ? "folded"
          : type === "PLAIN"
            ? "plain"
            : ("quoted" as const);
    return new Node("scalar", span, { value: isKnown ? value : null, style });
  }

  #fill(made: Node, node: ParsedNode, depth: number): void {
    if (depth >= deepest) return;
    if (isSeq(node)) {
      for (const item of node.items) made.items.push(this.convert(item, depth + 1));
      return;
    }
    if (!isMap(node)) return;
    const seen = new Set<string>();
    const merged: Node[] = [];
    for (const pair of node.items) {
      if (!pair.key) continue;
      const key = this.convert(pair.key, depth + 1);
      const value = pair.value
        ? this.convert(pair.value, depth + 1)
        : new Node("scalar", { file: this.#file, start: key.end, end: key.end });
      const name = key.text ?? "";
      if (name === "<<" && key.style === "plain") {
        merged.push(...(value.kind === "list" ? value.items : [value]));
        continue;
      }
      if (seen.has(name)) made.duplicates.push(key);
      seen.add(name);
      made.entries.push({ name, key, value });
    }
    for (const entry of merged.flatMap((one) => one.entries)) {
      if (seen.has(entry.name)) continue;
      // Mappings that merge mappings that merge mappings grow without end.
      if (this.#merged >= mostMerged) return;
      this.#merged += 1;
      seen.add(entry.name);
      made.entries.push(entry);
    }
  }
}
