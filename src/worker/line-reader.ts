/** How much of a line that is too long is kept, to say whose it was. */
const headBytes = 4096;
const newline = 10;

export interface LineReaderOptions {
  /** Longest line that is kept whole, in bytes. */
  readonly limit: number;
  readonly onLine: (line: string) => void;
  /** A longer line: its beginning, and its length once it is over. */
  readonly onTooLong: (head: string, bytes: number) => void;
}

/** Cuts a byte stream into lines; memory is bounded by the limit whatever is sent. */
export class LineReader {
  readonly #options: LineReaderOptions;
  #parts: Buffer[] = [];
  #size = 0;
  #head: string | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** Takes what arrived; a line may come in any number of pieces. */
  push(data: Buffer): void {
    let from = 0;
    for (let at = data.indexOf(newline); at >= 0; at = data.indexOf(newline, from)) {
      // The usual case, many short lines in one piece: no copying.
      if (this.#size === 0) this.#whole(data, from, at);
      else {
        this.#add(data.subarray(from, at));
        this.#end();
      }
      from = at + 1;
    }
    this.#add(data.subarray(from));
  }

  /** The stream is over; a last line without its newline counts. */
  close(): void {
    if (this.#size > 0) this.#end();
  }

  #whole(data: Buffer, from: number, to: number): void {
    if (to - from > this.#options.limit) {
      this.#options.onTooLong(data.toString("utf8", from, from + headBytes), to - from);
    } else if (to > from) {
      this.#options.onLine(data.toString("utf8", from, to));
    }
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#size += piece.length;
    if (this.#head !== undefined) return;
    this.#parts.push(piece);
    if (this.#size <= this.#options.limit) return;
    this.#head = Buffer.concat(this.#parts).toString("utf8", 0, headBytes);
    this.#parts = [];
  }

  #end(): void {
    const size = this.#size;
    const head = this.#head;
    const parts = this.#parts;
    this.#size = 0;
    this.#head = undefined;
    this.#parts = [];
    if (head !== undefined) this.#options.onTooLong(head, size);
    else this.#options.onLine(Buffer.concat(parts).toString("utf8"));
  }
}
