import type { Sighting } from "../../servers/throttle-proxy.ts";

/** Moments of an upload at which the machine is taken away. */
export const phases = [
  "before the first byte",
  "in the middle",
  "in the last chunk",
  "between data and manifest",
  "between manifest and log",
  "between log and hint",
] as const;
export type Phase = (typeof phases)[number];

/** One eviction. */
export interface Eviction {
  readonly run: string;
  readonly phase: Phase;
  /** Of the link to the store. */
  readonly bytesPerSecond: number;
  /** Size of the checkpoint on its way. */
  readonly bytes: number;
  readonly graceMs: number;
  /** From the notice on nothing passes any more. @default false */
  readonly blackHole?: boolean;
}

/** Follows the upload of step 2 and says when its moment has come. */
export class UploadWatch {
  isArmed = false;
  neededMs = 0;
  readonly #eviction: Eviction;
  readonly #onMoment: () => void;
  /** Bytes that have passed, by request. */
  readonly #passed = new Map<number, number>();
  #startedAt = 0;
  #isOver = false;
  #hasManifest = false;

  constructor(eviction: Eviction, onMoment: () => void) {
    this.#eviction = eviction;
    this.#onMoment = onMoment;
  }

  saw({ request, phase, sentBytes }: Sighting): void {
    if (!this.isArmed || this.#isOver || request.verb !== "put") return;
    const part = /^runs\/[^/]+\/(chunks|steps\/2|log)\//.exec(request.key)?.[1];
    if (part === "chunks") {
      if (this.#startedAt === 0) this.#startedAt = performance.now();
      this.#passed.set(request.number, sentBytes);
    }
    if (part === "steps/2" && phase === "answered") this.#hasManifest = true;
    if (part === undefined || !this.#isMoment(part, phase)) return;
    this.#isOver = true;
    this.neededMs = this.#estimate();
    this.#onMoment();
  }

  #isMoment(part: string, phase: Sighting["phase"]): boolean {
    const sent = this.#sent();
    switch (this.#eviction.phase) {
      case "before the first byte":
        return part === "chunks" && phase === "begun";
      case "in the middle":
        return part === "chunks" && sent >= 0.7;
      case "in the last chunk":
        return part === "chunks" && sent >= 0.97;
      case "between data and manifest":
        return part === "steps/2" && phase === "begun";
      case "between manifest and log":
        return part === "steps/2" && phase === "answered";
      case "between log and hint":
        return part === "log" && phase === "answered" && this.#hasManifest;
    }
  }

  #sent(): number {
    return this.#bytes() / this.#eviction.bytes;
  }

  #bytes(): number {
    return [...this.#passed.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  #estimate(): number {
    const { bytes, bytesPerSecond } = this.#eviction;
    const measured = (1000 * this.#bytes()) / (performance.now() - this.#startedAt);
    const rate = this.#sent() < 0.1 ? bytesPerSecond : Math.min(bytesPerSecond, measured);
    return (1000 * Math.max(0, bytes - this.#bytes())) / rate;
  }
}
