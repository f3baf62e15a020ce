/** Anything JSON can say. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** An item's data: what the handler is given. */
export type ItemData = { readonly [key: string]: JsonValue };

/** An item to publish; its id never changes. */
export interface NewItem {
  readonly id: string;
  readonly data: ItemData;
}

/** One item in one of its lives: a retry after death begins the next generation. */
export interface ItemKey {
  readonly id: string;
  readonly generation: number;
}

/** An item as it is sent to a separate broker or handed to a worker. */
export interface Item extends ItemKey {
  readonly data: ItemData;
}

/**
 * Where an item stands. `pending`: known, not yet confirmed by the broker (or, where queue and ledger are one database,
 * claimable); `sent`: the separate broker confirmed it; `done` and `dead` are settled.
 */
export type ItemState = "pending" | "sent" | "done" | "dead";

/** The right to settle a started item; random, new with every start. */
export type Claim = string;

/** What happened to a delivered item when its worker tried to start it. */
export type StartOutcome =
  /** Claimed; hand it to the handler. `failures` counts failed attempts so far. */
  | { readonly kind: "started"; readonly claim: Claim; readonly failures: number }
  /** Claimed, and known to have ended workers before: nothing else was started with it, and nothing may be until it is settled. */
  | { readonly kind: "started-alone"; readonly claim: Claim; readonly failures: number }
  /** A suspect that must run alone, and something else runs in this worker: keep its lease and start it when idle. */
  | { readonly kind: "must-wait" }
  /** Uncharged, not started: its neighbour is a suspect and had to start alone, or another's claim still runs. */
  | {
      readonly kind: "handed-back";
      readonly delayMs: number;
      /** The ledger has no such item: it was purged, or the worker was given another results database than the publisher. */
      readonly isUnknown?: true;
    }
  /** Done, dead (also: just found dead after its last lonely interruption) or of an older generation: ack it. */
  | { readonly kind: "settled" };

/** How a started item ended. */
export type Ending =
  | { readonly kind: "result"; readonly result: JsonValue }
  /** A failure of the handler; `permanent` sends it straight to the dead letters. */
  | { readonly kind: "failure"; readonly error: string; readonly permanent: boolean; readonly retryDelayMs: number }
  /** Not finished (eviction, suspect beside it, lost child that was not its fault): back at once, uncharged. */
  | { readonly kind: "hand-back" };

/** A started item and how it ended. */
export interface Settlement extends ItemKey {
  readonly claim: Claim;
  readonly ending: Ending;
}

/** What became of a settlement. Only after `accepted` and `repeated` may the message be acked (or nacked after a hand-back). */
export type SettleOutcome =
  /** Stored. `isDead`: this failure was its last. `delayMs`: not before then may it be delivered again. */
  | { readonly kind: "accepted"; readonly isDead?: boolean; readonly delayMs?: number }
  /** The same claim settled it the same way before; its reply was lost. */
  | { readonly kind: "repeated"; readonly isDead?: boolean; readonly delayMs?: number }
  /** A result stands already; this one was late. It may be acked: the item is settled. */
  | { readonly kind: "late" }
  /** Not from the current claim: neither ack nor nack. */
  | { readonly kind: "refused" };

/** Limits that decide when an item is dead. */
export interface ItemLimits {
  /** Failed attempts of the handler. @default 5 */
  readonly attempts: number;
  /** Interruptions after which an item starts alone. @default 2 */
  readonly suspectAfter: number;
  /** Interruptions while alone. @default 20 */
  readonly lonelyInterruptions: number;
}

/** One dead letter. */
export interface DeadItem extends Item {
  readonly error: string;
  readonly failures: number;
  readonly interruptions: number;
  readonly diedAt: string;
}

/** How much there is, by state; one snapshot. */
export interface Depth {
  /** Claimable now. */
  readonly ready: number;
  /** In the hands of a worker. */
  readonly leased: number;
  /** Waiting for a retry's delay. */
  readonly delayed: number;
  readonly dead: number;
  readonly done: number;
  readonly total: number;
  readonly oldestReadySeconds: number | undefined;
  /** Settled in the last minute. */
  readonly ratePerMinute: number;
  readonly openPublications: number;
  readonly interruptions: number;
  readonly late: number;
}

/** What an audit found; by id, in one snapshot. */
export interface Audit {
  readonly published: number;
  readonly done: number;
  readonly dead: number;
  /** Published and neither done nor dead, or done without a row in the results. */
  readonly missing: readonly string[];
  /** Ids with two accepted results. */
  readonly duplicates: readonly string[];
  /** Results refused because one stood already. */
  readonly late: number;
  readonly openPublications: number;
}

/**
 * The ledger of items and the results beside it, in one database. Every method is one transaction, safe to repeat, and uses the
 * database's clock. Lists may be up to a few thousand long.
 */
export interface Ledger {
  readonly url: string;
  /** Creates what is missing and checks what is there; throws with what is wrong and how to mend it. */
  prepare(): Promise<void>;
  /** The statements `prepare` would run now; empty when nothing is missing. */
  plan(): Promise<readonly string[]>;

  /** Opens a publication of that name before its first row. */
  openPublication(name: string): Promise<void>;
  /** Closes every open publication of that name. */
  closePublications(name: string): Promise<void>;
  /** Adds items that are not there yet, as pending; says how many were new. */
  add(items: readonly NewItem[]): Promise<number>;
  /** Items pending since before they were confirmed by the separate broker, in order of publishing, after a position. */
  pending(
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>;
  /** pending → sent, only those still pending in that generation. */
  markSent(items: readonly ItemKey[]): Promise<void>;

  /**
   * Leases up to `max` claimable items to this caller, oldest first; only where the ledger is the queue too. An item whose claim ran
   * out is claimable again. Leasing charges nothing.
   */
  lease(max: number, leaseMs: number, holder: string): Promise<readonly Item[]>;
  /** Gives leased or claimed items more time; returns those that are not this holder's (any more). */
  renew(items: readonly ItemKey[], leaseMs: number, holder: string): Promise<readonly ItemKey[]>;
  /** Gives leased items that were not started back, uncharged. */
  release(items: readonly ItemKey[], holder: string): Promise<void>;

  /** See design: one transaction just before the handler. `isIdle`: nothing else is started in this worker. */
  start(
    items: readonly ItemKey[],
    options: {
      readonly holder: string;
      readonly leaseMs: number;
      readonly isIdle: boolean;
      readonly limits: ItemLimits;
    },
  ): Promise<readonly StartOutcome[]>;
  /** Settles a chunk; where the ledger is the queue too, this is the ack as well. */
  settle(
    settlements: readonly Settlement[],
    options: { readonly holder: string; readonly limits: ItemLimits },
  ): Promise<readonly SettleOutcome[]>;

  /** At least one publication, none open, no published id unsettled. */
  isDrained(): Promise<boolean>;
  depth(): Promise<Depth>;
  audit(): Promise<Audit>;
  dead(after: string | undefined, limit: number): Promise<readonly DeadItem[]>;
  /** dead → pending in the next generation, claim and counts cleared; all dead ones, or those ids. Says how many. */
  retry(ids: readonly string[] | undefined): Promise<number>;
  /** sent and never settled, whose claim (if any) ran out → pending in the same generation, so that they are sent again. */
  retryMissing(): Promise<number>;
  /** Forgets everything settled and published (`queue purge`); results in the user's table stay. */
  purge(): Promise<number>;
  /** All results in order of id, for exports. */
  results(): AsyncIterable<{ readonly id: string; readonly result: JsonValue }>;

  /** Resolves when something may have become claimable, or after `ms` at the latest. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
