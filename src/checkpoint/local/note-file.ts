import { open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../core/index.ts";
import { seal, unseal } from "../sealed-json.ts";
import { type Note, readNote, writeNote } from "./note.ts";
import type { OwnFolder } from "./own-folder.ts";

/** Where the note is kept. */
export interface NoteFile {
  /** Undefined when there is none or it is torn. */
  read(): Promise<Note | undefined>;
  /** Replaces it: whoever reads finds the old one or the new one. */
  write(note: Note): Promise<void>;
}

/** The note of a checkpoint directory. */
export function createNoteFile(own: OwnFolder): NoteFile {
  if (own.bucket) return new NumberedNotes(own.root);
  return { read: () => readNote(own.note), write: (note) => writeNote(own.note, note) };
}

const numbered = /^note-(\d+)\.json$/;

/**
 * Without a rename that can be relied on, each note is a new file with the next number, and the newest that is whole counts. The one before it is
 * deleted only once the new one is closed. This also keeps clear of the one write a second that Cloud Storage allows for a name.
 */
class NumberedNotes implements NoteFile {
  readonly #root: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(root: string) {
    this.#root = root;
  }

  async read(): Promise<Note | undefined> {
    for (const number of (await this.#numbers()).toReversed()) {
      const opened = unseal(await readFile(this.#path(number)));
      if ("content" in opened) return opened.content as Note;
    }
    return undefined;
  }

  write(note: Note): Promise<void> {
    const written = this.#writing.then(() => this.#write(note));
    this.#writing = written.catch(() => {});
    return written;
  }

  async #write(note: Note): Promise<void> {
    for (;;) {
      const old = await this.#numbers();
      try {
        const file = await open(this.#path((old.at(-1) ?? 0) + 1), "wx");
        try {
          await file.writeFile(seal(note));
        } finally {
          await file.close();
        }
        for (const number of old) await rm(this.#path(number), { force: true });
        return;
      } catch (error) {
        // Another start wrote one at the same moment.
        if (systemCode(error) !== "EEXIST") throw error;
      }
    }
  }

  async #numbers(): Promise<number[]> {
    const found = (await readdir(this.#root)).flatMap((name) => numbered.exec(name)?.[1] ?? []);
    return found.map(Number).toSorted((a, b) => a - b);
  }

  #path(number: number): string {
    return join(this.#root, `note-${number}.json`);
  }
}
