/** Cuts a byte stream into lines of bounded length. */
export class LineReader {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;

  constructor(limit: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  /** Takes what arrived; a line may come in any number of pieces. */
  push(data: Buffer): void {
    let from = 0;
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, from)) {
      this.#add(data.subarray(from, at));
      this.#flush();
      from = at + 1;
    }
    this.#add(data.subarray(from));
  }

  #add(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    this.#size += piece.length;
    if (this.#size > this.#limit) {
      this.#skipping = true;
      this.#parts = [];
      this.#onTooLong();
    } else {
      this.#parts.push(piece);
    }
  }

  #flush(): void {
    const line = this.#skipping ? "" : Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    if (line !== "") this.#onLine(line);
  }
}
