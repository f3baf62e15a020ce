import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { contentFor, zip, zipOverhead } from "./contents.ts";

/** One line of a recording. */
export interface Operation {
  readonly t: number;
  readonly pid: number;
  readonly op: string;
  readonly path: string;
  readonly to?: string;
  readonly bytes?: number;
  readonly size?: number;
}

/** The operations of a recording, in order. */
export function readRecording(name: string): readonly Operation[] {
  const text = readFileSync(new URL(`../recordings/${name}.jsonl`, import.meta.url), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Operation);
}

/** Large files are made this small: sizes do not matter, order and states do. */
const largest = 48 * 1024;

/** What a file holds from one `create` or `overwrite` to the next: whole only after its last write. */
interface Life {
  readonly content: Buffer;
  /** How much of it each operation (by index) has put there. */
  readonly upTo: ReadonlyMap<number, number>;
  written: number;
}

/**
 * Performs a recording on a real directory, one operation at a time, with real descriptors held open where the recording holds them. The
 * bytes are prefixes (or holes) of a structurally valid file until the operation that wrote the last of them.
 */
export class Replay {
  readonly root: string;
  readonly operations: readonly Operation[];
  /** Operations performed so far. */
  done = 0;
  readonly #lives = new Map<string, Life>();
  readonly #open = new Map<string, number[]>();
  readonly #outside: string;

  constructor(root: string, operations: readonly Operation[]) {
    this.root = root;
    this.operations = operations;
    this.#outside = mkdtempSync(`${root}-outside-`);
  }

  /** Performs the next operation. */
  step(): Operation {
    const index = this.done;
    const operation = this.operations[index];
    if (!operation) throw new Error("the recording is over");
    this.done += 1;
    const { op, path } = operation;
    const target = join(this.root, path);
    switch (op) {
      case "mkdir":
        mkdirSync(target);
        break;
      case "create":
      case "overwrite": {
        this.#lives.set(path, this.#lifeFrom(index));
        this.#opened(path, openSync(target, "w"));
        this.#write(path, index);
        break;
      }
      case "reopen":
        this.#opened(path, openSync(target, "r+"));
        break;
      case "truncate":
        ftruncateSync(this.#descriptor(path), this.#life(path).content.length);
        break;
      case "write":
        this.#write(path, index);
        break;
      case "close": {
        this.#write(path, index);
        closeSync(this.#descriptor(path));
        this.#open.get(path)?.pop();
        break;
      }
      case "rename":
        if (path.startsWith("(system temp)/")) this.#moveIn(index, operation);
        else {
          renameSync(target, join(this.root, operation.to ?? ""));
        }
        break;
      case "unlink":
        unlinkSync(target);
        break;
      case "rmdir":
        rmdirSync(target);
        break;
      case "fsync":
        break;
      default:
        throw new Error(`unknown operation ${op}`);
    }
    return operation;
  }

  /** Closes what is open, as the kernel does for a process that was killed. */
  die(): void {
    for (const descriptors of this.#open.values())
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  }

  [Symbol.dispose](): void {
    this.die();
    rmSync(this.#outside, { recursive: true, force: true });
  }

  #opened(path: string, descriptor: number): void {
    this.#open.set(path, [...(this.#open.get(path) ?? []), descriptor]);
  }

  #descriptor(path: string): number {
    const descriptor = this.#open.get(path)?.at(-1);
    if (descriptor === undefined) throw new Error(`${path} is not open at operation ${this.done}`);
    return descriptor;
  }

  #life(path: string): Life {
    const life = this.#lives.get(path);
    if (!life) throw new Error(`${path} was never created`);
    return life;
  }

  #write(path: string, index: number): void {
    const life = this.#life(path);
    const end = Math.max(life.written, life.upTo.get(index) ?? life.written);
    if (end > life.written) {
      writeSync(this.#descriptor(path), life.content, life.written, end - life.written, life.written);
    }
    life.written = end;
  }

  #moveIn(index: number, { to = "" }: Operation): void {
    const aside = join(this.#outside, "tmp");
    writeFileSync(aside, this.#contentOf(to, 20_000, index));
    renameSync(aside, join(this.root, to));
  }

  /** Looks ahead to what the file will hold, and after which operation how much of it. */
  #lifeFrom(start: number): Life {
    const path = this.operations[start]?.path ?? "";
    const own: { readonly index: number; readonly operation: Operation }[] = [];
    let name = path;
    for (let index = start; index < this.operations.length; index += 1) {
      const operation = this.operations[index];
      if (!operation || operation.path !== path) continue;
      if (index > start && ["create", "overwrite", "unlink"].includes(operation.op)) break;
      if (operation.op === "rename") name = operation.to ?? path;
      own.push({ index, operation });
    }
    const size = own.reduce((last, { operation }) => (operation.op === "close" ? (operation.size ?? last) : last), 0);
    const writes = own.filter(({ operation }) => operation.op === "write");
    const total = writes.reduce((sum, { operation }) => sum + (operation.bytes ?? 0), 0);
    const closes = own.filter(({ operation }) => operation.op === "close");
    const content = size === 0 ? Buffer.alloc(0) : this.#contentOf(name, Math.min(size, largest), start);
    const upTo = new Map<number, number>();
    if (closes.length > 1 && writes.length === 1) {
      // Written and closed by a copy the recorder did not see, opened again, and appended to.
      const [first] = closes;
      const share = (first?.operation.size ?? 0) / size;
      if (first && share > 0) {
        upTo.set(start, Math.floor((content.length * share) / 2));
        upTo.set(first.index, Math.min(content.length - 1, Math.floor(content.length * share)));
      }
    }
    let sum = 0;
    for (const { index, operation } of writes) {
      sum += operation.bytes ?? 0;
      upTo.set(index, Math.floor((content.length * sum) / total));
    }
    const last = closes.at(-1);
    if (writes.length === 0 && last) {
      // A copy by sendfile: half of it is there at once, the rest before it is closed.
      upTo.set(start, Math.floor(content.length / 2));
      upTo.set(last.index, content.length);
    }
    return { content, upTo, written: 0 };
  }

  #contentOf(path: string, size: number, index: number): Buffer {
    const name = basename(path);
    if (name === ".metadata") {
      const shards = this.operations.filter(
        ({ op, path: made }) => op === "create" && /^__.*distcp$/.test(basename(made)),
      );
      const names = new Set(
        shards.filter((each) => dirname(each.path) === dirname(path)).map((each) => basename(each.path)),
      );
      return Buffer.from([...names].join(" ").padEnd(size, "."));
    }
    if (name === "latest") return Buffer.from(this.#newestFolder(index));
    if (name === "_CHECKPOINT_METADATA" && size >= 270) {
      return Buffer.from(`{"init_timestamp_nsecs": 1, "commit_timestamp_nsecs": 2${" ".repeat(size - 56)}}`);
    }
    if (/\.ckpt$/.test(name)) return zip(size, index, pickledStep(this.#stepAt(index), size - zipOverhead));
    return contentFor(name, size, index);
  }

  #newestFolder(index: number): string {
    const made = this.operations.slice(0, index).filter(({ op, path }) => op === "mkdir" && !path.includes("/"));
    return made.at(-1)?.path ?? "";
  }

  /** The step of the file written at `index`; `last.ckpt` repeats the one before it. */
  #stepAt(index: number): number {
    for (let at = index; at >= 0; at -= 1) {
      const operation = this.operations[at];
      const named = /step=(\d+)/.exec(
        operation?.to ?? (operation?.op === "unlink" ? "" : (operation?.path ?? "")),
      )?.[1];
      if (named !== undefined) return Number(named);
    }
    return 0;
  }
}

/** The beginning of a Lightning checkpoint: a pickled dictionary with `epoch` and `global_step`. */
export function pickledStep(step: number, size: number): Buffer {
  const value = Buffer.alloc(3);
  value[0] = 0x4d;
  value.writeUInt16LE(step, 1);
  const text = (word: string) => Buffer.concat([Buffer.from([0x58, word.length, 0, 0, 0]), Buffer.from(word)]);
  const head = Buffer.concat([
    Buffer.from([0x80, 2, 0x7d, 0x71, 0, 0x28]),
    text("epoch"),
    Buffer.from([0x71, 1, 0x4b, 0]),
    text("global_step"),
    Buffer.from([0x71, 2]),
    value,
  ]);
  return Buffer.concat([head, Buffer.alloc(Math.max(0, size - head.length), "weights.")]);
}
