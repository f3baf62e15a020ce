import type { Clock } from "../../core/index.ts";

/** How an {@link AdaptiveLimit} begins and how far it goes. */
export interface LimitOptions {
  readonly clock: Clock;
  readonly start: number;
  readonly most: number;
  /** @default 1 */
  readonly least?: number;
}

/** Growth of the time per job that counts as queueing, unless the rate grew like this. */
const slower = 1.3;
const better = 1.05;
/** A chunk on its way for longer than this gains nothing from company: fewer at a time, and each is acknowledged sooner. */
const slowMs = 4000;
/** Windows after which one more is tried again: the network may have become better. */
const patience = 8;
/** Refusals within this time are one event: they were caused by the same load. */
const refusalWindowMs = 500;

interface Window {
  readonly began: number;
  jobs: number;
  bytes: number;
  ms: number;
  isFull: boolean;
}

/**
 * How many chunks of a request are under way at a time. It looks at windows of as many jobs as the limit. One more is tried: if the rate grows
 * by at least half of what one more could bring, another is tried, else the limit goes back and stays for a while. It also goes
 * down by one when jobs take longer and the rate is no better for it, and is halved when the store refuses work, a connection breaks, or chunks take very long.
 */
export class AdaptiveLimit {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #least: number;
  #limit: number;
  /** What the windows are held against. */
  #base: { readonly rate: number; readonly ms: number } | undefined;
  #isTrial = false;
  #held = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #window: Window;

  constructor(options: LimitOptions) {
    this.#clock = options.clock;
    this.#most = options.most;
    this.#least = options.least ?? 1;
    this.#limit = Math.min(options.start, options.most);
    this.#window = this.#open();
  }

  /** How many may be under way now. */
  get value(): number {
    return this.#limit;
  }

  /** The store refused a call for now, or a connection failed. */
  refused(): void {
    const now = this.#clock.monotonic();
    if (now - this.#refusedAt < refusalWindowMs) return;
    this.#refusedAt = now;
    this.#set(Math.floor(this.#limit / 2));
    this.#forget();
  }

  /** A job that moved `bytes` over the wire is done after `ms`; `running` others were under way beside it. */
  finished(bytes: number, ms: number, running: number): void {
    const window = this.#window;
    window.jobs += 1;
    window.bytes += bytes;
    window.ms += ms;
    // Where there were fewer jobs than places, the rate says nothing about the number of places.
    if (running + 1 < this.#limit) window.isFull = false;
    if (window.jobs >= this.#limit) this.#judge();
  }

  #judge(): void {
    const { began, jobs, bytes, ms, isFull } = this.#window;
    const seen = { rate: bytes / Math.max(1, this.#clock.monotonic() - began), ms: ms / jobs };
    this.#window = this.#open();
    if (seen.ms > slowMs) {
      this.#set(Math.floor(this.#limit / 2));
      this.#forget();
    } else if (isFull) {
      this.#compare(seen);
    }
  }

  #compare(seen: { readonly rate: number; readonly ms: number }): void {
    const base = this.#base;
    if (!base) {
      this.#try(seen);
    } else if (this.#isTrial) {
      if (seen.rate >= base.rate * (1 + 0.5 / (this.#limit - 1))) return this.#try(seen);
      this.#set(this.#limit - 1);
      this.#isTrial = false;
    } else if (seen.ms > base.ms * slower && seen.rate < base.rate * better) {
      this.#set(this.#limit - 1);
      this.#base = seen;
    } else {
      this.#held += 1;
      if (this.#held >= patience) this.#try(seen);
    }
  }

  /** One more, held against what was seen without it. */
  #try(seen: { readonly rate: number; readonly ms: number }): void {
    this.#isTrial = this.#limit < this.#most;
    this.#base = seen;
    this.#set(this.#limit + 1);
  }

  #set(limit: number): void {
    this.#limit = Math.min(this.#most, Math.max(this.#least, limit));
    this.#held = 0;
  }

  /** What was measured under another load no longer counts. */
  #forget(): void {
    this.#base = undefined;
    this.#isTrial = false;
    this.#window = this.#open();
  }

  #open(): Window {
    return { began: this.#clock.monotonic(), jobs: 0, bytes: 0, ms: 0, isFull: true };
  }
}
