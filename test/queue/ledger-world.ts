import { expect } from "vitest";
import type {
  Claim,
  Ending,
  Item,
  ItemKey,
  ItemLimits,
  JsonValue,
  Ledger,
  SettleOutcome,
  StartOutcome,
} from "../../src/results/index.ts";

/** A ledger under test, the clock of its database, and how to be rid of it. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** Opens the same database once more, as another process would. */
  readonly openAgain: () => Promise<Ledger>;
  /** Time passes for the database. */
  readonly advance: (ms: number) => Promise<void>;
  /** Puts a row into the user's table behind the ledger's back, or takes one out. */
  readonly tamper: (change: { readonly insert: string } | { readonly remove: string }) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** How to open one: `query` goes to the end of its URL, such as `table=labels&columns=label`. */
export type OpenLedger = (query?: string) => Promise<LedgerUnderTest>;

/** Small limits, so that a test gets there; the real ones are five, two and twenty. */
export const limits: ItemLimits = { attempts: 3, suspectAfter: 2, lonelyInterruptions: 3 };
export const leaseMs = 30_000;

/** Publishes ids as one publication; the data says which. */
export async function publish(ledger: Ledger, ids: readonly string[], name = "source"): Promise<number> {
  await ledger.openPublication(name);
  const added = await ledger.add(ids.map((id) => ({ id, data: { of: id } })));
  await ledger.closePublications(name);
  return added;
}

/** One worker's calls on a ledger that is the queue too. */
export class LedgerWorker {
  readonly ledger: Ledger;
  readonly holder: string;
  readonly claims = new Map<string, Claim>();

  constructor(ledger: Ledger, holder: string) {
    this.ledger = ledger;
    this.holder = holder;
  }

  lease(max = 10): Promise<readonly Item[]> {
    return this.ledger.lease(max, leaseMs, this.holder);
  }

  async start(items: readonly ItemKey[], isIdle = true): Promise<readonly StartOutcome[]> {
    const outcomes = await this.ledger.start(items, { holder: this.holder, leaseMs, isIdle, limits });
    outcomes.forEach((outcome, i) => {
      const id = items[i]?.id;
      if (id !== undefined && "claim" in outcome) this.claims.set(id, outcome.claim);
    });
    return outcomes;
  }

  /** Leases whatever is claimable and starts it. */
  async take(max = 10): Promise<readonly Item[]> {
    const items = await this.lease(max);
    if (items.length > 0) await this.start(items);
    return items;
  }

  /** Settles items with the claims they were started with. */
  settle(items: readonly ItemKey[], ending: Ending): Promise<readonly SettleOutcome[]> {
    const settlements = items.map(({ id, generation }) => ({
      id,
      generation,
      claim: this.claims.get(id) ?? "never started",
      ending,
    }));
    return this.ledger.settle(settlements, { holder: this.holder, limits });
  }

  async settleOne(item: ItemKey, ending: Ending): Promise<SettleOutcome> {
    const [outcome] = await this.settle([item], ending);
    if (!outcome) throw new Error("a settlement without an outcome");
    return outcome;
  }

  async startOne(item: ItemKey, isIdle = true): Promise<StartOutcome> {
    const [outcome] = await this.start([item], isIdle);
    if (!outcome) throw new Error("a start without an outcome");
    return outcome;
  }
}

export const result = (value: JsonValue): Ending => ({ kind: "result", result: value });
export const failure = (error: string, retryDelayMs = 0): Ending => ({
  kind: "failure",
  error,
  permanent: false,
  retryDelayMs,
});
export const permanent = (error: string): Ending => ({ kind: "failure", error, permanent: true, retryDelayMs: 0 });
export const handBack: Ending = { kind: "hand-back" };

export const key = (id: string, generation = 0): ItemKey => ({ id, generation });
export const idsOf = (items: readonly ItemKey[]): string[] => items.map((item) => item.id);

/** The user's table. */
export async function resultsOf(ledger: Ledger): Promise<Record<string, JsonValue>> {
  const found: [string, JsonValue][] = [];
  for await (const row of ledger.results()) found.push([row.id, row.result]);
  return Object.fromEntries(found);
}

/** That every published id has exactly one result or is dead. */
export async function expectSound(
  ledger: Ledger,
  counts: { readonly done: number; readonly dead?: number },
): Promise<void> {
  const audit = await ledger.audit();
  expect(audit).toMatchObject({ done: counts.done, dead: counts.dead ?? 0, missing: [], duplicates: [] });
  expect(await ledger.isDrained()).toBe(true);
}
