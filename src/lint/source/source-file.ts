/** A text with a name; turns offsets into lines and columns. */
export class SourceFile {
  readonly path: string;
  readonly text: string;
  /** How it came to be, when it is no file that can be edited: `helm template`, `kustomize build`, `standard input`. */
  readonly rendered: string | undefined;
  #starts: number[] | undefined;

  constructor(path: string, text: string, rendered?: string) {
    this.path = path;
    this.text = text;
    this.rendered = rendered;
  }

  /** Line and column of an offset, both from 1. */
  position(offset: number): { readonly line: number; readonly column: number } {
    const starts = this.#lineStarts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  /** Where a line begins; lines count from 1. */
  startOfLine(line: number): number {
    const starts = this.#lineStarts();
    return starts[Math.min(Math.max(line, 1), starts.length) - 1] ?? 0;
  }

  /** A line without its end. */
  lineText(line: number): string {
    const start = this.startOfLine(line);
    const end = this.text.indexOf("\n", start);
    return this.text.slice(start, end < 0 ? undefined : end).replace(/\r$/, "");
  }

  #lineStarts(): number[] {
    if (this.#starts) return this.#starts;
    const starts = [0];
    for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.#starts = starts;
    return starts;
  }
}

/** A piece of a file. */
export interface Span {
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
}
