import type { Depth, Item, ItemKey, ItemLimits, Settlement, SettleOutcome, StartOutcome } from "../results/index.ts";

/** An item in this worker's hands, not started yet. */
export interface Delivery extends Item {
  /** How the broker knows this delivery; the worker only passes it back. */
  readonly receipt: string;
}

/** A separate broker: at-least-once, no memory of what was settled. */
export interface Broker {
  readonly url: string;
  /** Makes or checks what the broker needs; throws with what is wrong and how to mend it. */
  prepare(): Promise<void>;
  /** The commands that `prepare` stands for, for people who run them themselves (`gcloud …`). */
  plan(): Promise<readonly string[]>;
  /** Sends messages; when it resolves all are confirmed. */
  send(items: readonly Item[]): Promise<void>;
  /** Takes up to `max` deliveries, waiting up to `waitMs` for the first. None does not mean that there are none. */
  pull(
    max: number,
    options: { readonly waitMs: number; readonly leaseMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]>;
  /** Gives deliveries more time. */
  extend(deliveries: readonly Delivery[], leaseMs: number): Promise<void>;
  /** Confirmed when it resolves. */
  ack(deliveries: readonly Delivery[]): Promise<void>;
  /** Back at once, or after a delay where the broker can (else as soon as it must). */
  nack(deliveries: readonly Delivery[], delayMs: number): Promise<void>;
  /**
   * Drops every message, where the broker can. After the ledger's own purge: what is left behind would come round for ever, since the
   * ledger does not know it any more.
   */
  purge?(): Promise<void>;
  close(): Promise<void>;
}

/** What a worker sees of a queue and its results, wherever they are. All calls are safe to repeat. */
export interface WorkQueue {
  readonly url: string;
  /** Makes or checks what is needed, on both sides. */
  prepare(): Promise<void>;
  plan(): Promise<readonly string[]>;
  pull(
    max: number,
    options: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]>;
  /** One transaction just before the handler. What it finds settled is acked, what it hands back is nacked; outcomes in order. */
  start(deliveries: readonly Delivery[], options: { readonly isIdle: boolean }): Promise<readonly StartOutcome[]>;
  /** Keeps deliveries and started items alive; returns those lost to another worker. */
  renew(deliveries: readonly Delivery[]): Promise<readonly ItemKey[]>;
  /** One transaction for the chunk, then the acks its outcomes allow (inside it where the database is shared). */
  settle(settlements: readonly (Settlement & { readonly delivery: Delivery })[]): Promise<readonly SettleOutcome[]>;
  /** Gives back what was never started, uncharged, at once. */
  release(deliveries: readonly Delivery[]): Promise<void>;
  isDrained(): Promise<boolean>;
  depth(): Promise<Depth>;
  close(): Promise<void>;
}

/** How a worker opens a queue. */
export interface WorkQueueOptions {
  /** This worker's name in leases and claims; random. */
  readonly holder: string;
  readonly leaseMs: number;
  readonly limits: ItemLimits;
}
