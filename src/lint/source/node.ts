import type { SourceFile, Span } from "./source-file.ts";

/** One key of a mapping with its value. */
export interface Entry {
  readonly name: string;
  readonly key: Node;
  readonly value: Node;
}

/** What a scalar can hold. */
export type Scalar = string | number | boolean | null;

// Most nodes are scalars: they share their empty lists, which nobody fills.
const noEntries: Entry[] = [];
const noNodes: Node[] = [];
Object.freeze(noEntries);
Object.freeze(noNodes);

/** A YAML value that knows where it stands. Aliases are resolved, so a node can be reached by several ways. */
export class Node implements Span {
  readonly kind: "map" | "list" | "scalar";
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
  /** What a scalar holds; null for mappings and lists. */
  readonly value: Scalar;
  /** How a scalar was written. */
  readonly style: "plain" | "quoted" | "literal" | "folded" | "none";
  /** Written in braces or brackets. */
  readonly isFlow: boolean;
  readonly entries: Entry[];
  readonly items: Node[];
  /** Keys that stand twice in this mapping. */
  readonly duplicates: Node[];
  #byName: Map<string, Entry> | undefined;

  constructor(
    kind: Node["kind"],
    span: Span,
    { value = null, style = "none", isFlow = false }: Partial<Pick<Node, "value" | "style" | "isFlow">> = {},
  ) {
    this.kind = kind;
    this.entries = kind === "map" ? [] : noEntries;
    this.items = kind === "list" ? [] : noNodes;
    this.duplicates = kind === "map" ? [] : noNodes;
    this.file = span.file;
    this.start = span.start;
    this.end = span.end;
    this.value = value;
    this.style = style;
    this.isFlow = isFlow;
  }

  /** The entry of a mapping by its key. */
  entry(name: string): Entry | undefined {
    if (this.entries.length < 8) return this.entries.find((entry) => entry.name === name);
    this.#byName ??= new Map(this.entries.map((entry) => [entry.name, entry]));
    return this.#byName.get(name);
  }

  /** The value below a key, or below several in a row. */
  get(...names: readonly string[]): Node | undefined {
    const [first, ...rest] = names;
    let node = first === undefined ? undefined : this.entry(first)?.value;
    for (const name of rest) node = node?.entry(name)?.value;
    return node;
  }

  /** A string, or undefined for anything else. */
  get string(): string | undefined {
    return typeof this.value === "string" ? this.value : undefined;
  }

  /** A scalar as it would be printed; undefined for null, mappings and lists. */
  get text(): string | undefined {
    return this.kind !== "scalar" || this.value === null ? undefined : String(this.value);
  }

  /** A number, also when it is written in quotes. */
  get number(): number | undefined {
    if (typeof this.value === "number") return this.value;
    return typeof this.value === "string" && /^-?\d+(\.\d+)?$/.test(this.value) ? Number(this.value) : undefined;
  }

  /** True for the boolean and for the word. */
  get isTrue(): boolean {
    return this.value === true || this.value === "true";
  }

  /** Strings of a list, or the one string that stands in its place. */
  get strings(): string[] {
    if (this.kind === "list") return this.items.flatMap((item) => item.text ?? []);
    return this.text === undefined ? [] : [this.text];
  }

  /** A mapping of scalars, read as strings. */
  get record(): Record<string, string> {
    const record: Record<string, string> = {};
    for (const { name, value } of this.entries) if (value.text !== undefined) record[name] = value.text;
    return record;
  }
}
