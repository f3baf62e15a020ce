import { crc32cText } from "../../../src/storage/crc32c.ts";

/** A stored object. Changing `bytes` alone leaves the old checksum standing, as damage on the way to a reader would. */
export interface FakeObject {
  readonly name: string;
  readonly generation: bigint;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updatedMs: number;
  bytes: Uint8Array;
  crc32c: string;
}

/** A bucket in memory. */
export class FakeBucket {
  readonly name: string;
  readonly location: string;
  readonly objects: Map<string, FakeObject> = new Map();
  readonly #nextGeneration: () => bigint;
  readonly #writtenAtMs = new Map<string, number>();
  #sorted: readonly string[] | undefined;

  constructor(name: string, location: string, nextGeneration: () => bigint) {
    this.name = name;
    this.location = location;
    this.#nextGeneration = nextGeneration;
  }

  /** Stores bytes under a name, in a new generation. */
  put(
    name: string,
    bytes: Uint8Array,
    metadata: Readonly<Record<string, unknown>> = {},
    nowMs = Date.now(),
  ): FakeObject {
    if (!this.objects.has(name)) this.#sorted = undefined;
    const object = {
      name,
      bytes,
      crc32c: crc32cText(bytes),
      generation: this.#nextGeneration(),
      metadata,
      updatedMs: nowMs,
    };
    this.objects.set(name, object);
    return object;
  }

  /** Removes an object; whether there was one. */
  delete(name: string): boolean {
    this.#sorted = undefined;
    return this.objects.delete(name);
  }

  /** Whether this name was changed less than a second ago; if not, it counts as changed now. */
  isTooSoon(name: string, nowMs: number): boolean {
    if (nowMs - (this.#writtenAtMs.get(name) ?? -Infinity) < 1000) return true;
    this.#writtenAtMs.set(name, nowMs);
    return false;
  }

  /** All names in the order of their UTF-8 bytes. */
  names(): readonly string[] {
    this.#sorted ??= [...this.objects.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return this.#sorted;
  }
}
