import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type ParsedNode, parseAllDocuments } from "yaml";
import { type Fault, faultsError } from "./faults.ts";

/** A key's place in a document. */
export type Path = readonly PropertyKey[];

/** One YAML document of outlast.yaml, and where its parts stand. */
export interface SpecDocument {
  readonly content: unknown;
  /** The line of the key that a path names, or of its nearest parent. */
  readonly lineOf: (path: Path) => number | undefined;
}

/** Reads all documents of a file; broken YAML is refused, every fault with its line. */
export function readDocuments(text: string, path: string): readonly SpecDocument[] {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const documents: Document.Parsed[] = "empty" in parsed ? [] : parsed;
  const faults: Fault[] = [];
  const found = documents.map((document): SpecDocument => {
    for (const error of document.errors) {
      faults.push({
        severity: "error",
        line: lines.linePos(error.pos[0]).line,
        message: `this is not valid YAML: ${error.message.split("\n")[0]}`,
        hint: "mend the line it names",
      });
    }
    return {
      content: document.errors.length > 0 ? undefined : contentOf(document, faults),
      lineOf: lineFinder(document, lines),
    };
  });
  if (faults.length > 0) throw faultsError(path, faults);
  return found.filter(({ content }) => content !== null && content !== undefined);
}

function contentOf(document: Document.Parsed, faults: Fault[]): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that lead nowhere, or to far too much.
    faults.push({
      severity: "error",
      line: undefined,
      message: `this is not valid YAML: ${error instanceof Error ? error.message : String(error)}`,
      hint: "mend or leave out the alias",
    });
    return undefined;
  }
}

function lineFinder(document: Document<ParsedNode>, lines: LineCounter): SpecDocument["lineOf"] {
  return (path) => {
    let node: unknown = document.contents;
    let line = lineAt(node, lines);
    for (const step of path) {
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
        : undefined;
      const value: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined;
      line = lineAt(pair?.key, lines) ?? lineAt(value, lines) ?? line;
      node = value;
    }
    return line;
  };
}

function lineAt(node: unknown, lines: LineCounter): number | undefined {
  return isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined;
}
