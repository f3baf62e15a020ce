/** Of so many ids duplicates are found; the table then has 64 MiB and takes no more. */
const mostIds = 4 * 1024 * 1024;
const firstSlots = 1024;

/**
 * Remembers ids (48 bits of each) and contents (16 bits) in a table of bounded size, for telling about duplicates only: a wrong guess changes
 * a figure in a report and nothing else.
 */
export class IdSet {
  /** Two numbers a slot: 32 bits of the id, never 0; 16 more of the id and 16 of the content. */
  #slots: Uint32Array = new Uint32Array(2 * firstSlots);
  #count = 0;

  /** Whether ids were left out because there were too many. */
  get isFull(): boolean {
    return this.#count >= mostIds;
  }

  /** Remembers an id; says whether it was there, and whether with other content. */
  see(id: string, content: string): "new" | "same" | "other" {
    const mark = hash(id, 0x811c9dc5) || 1;
    const more = hash(id, 0x2545f491) >>> 16;
    const contentMark = hash(content, 0x811c9dc5) >>> 16;
    const at = this.#find(mark, more);
    if (this.#slots[at] !== 0) return ((this.#slots[at + 1] ?? 0) & 0xffff) === contentMark ? "same" : "other";
    if (this.isFull) return "new";
    this.#slots[at] = mark;
    this.#slots[at + 1] = ((more << 16) | contentMark) >>> 0;
    this.#count += 1;
    if (this.#count * 4 > this.#slots.length) this.#grow();
    return "new";
  }

  /** Index of the slot that holds the id, or of the free one where it belongs. */
  #find(mark: number, more: number): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    let at = mark & mask;
    while (slots[2 * at] !== 0 && (slots[2 * at] !== mark || (slots[2 * at + 1] ?? 0) >>> 16 !== more))
      at = (at + 1) & mask;
    return 2 * at;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += 2) {
      const mark = old[i] ?? 0;
      if (mark === 0) continue;
      const second = old[i + 1] ?? 0;
      const at = this.#find(mark, second >>> 16);
      this.#slots[at] = mark;
      this.#slots[at + 1] = second;
    }
  }
}

/** FNV-1a over the text's characters, then mixed so that every bit counts. */
function hash(text: string, seed: number): number {
  let a = seed;
  for (let i = 0; i < text.length; i += 1) a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b);
  a = Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (a ^ (a >>> 16)) >>> 0;
}
