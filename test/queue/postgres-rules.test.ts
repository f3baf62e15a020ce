import fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLedger, type Ledger, type SettleOutcome, type StartOutcome } from "../../src/results/index.ts";
import { decideSettle, decideStart, type ItemRow } from "../../src/results/rules.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { newDatabase } from "./postgres-world.ts";

const limits = { attempts: 3, suspectAfter: 2, lonelyInterruptions: 3 };
const leaseMs = 600_000;
const holders = ["w1", "w2"] as const;
const claims = ["c1", "c2"] as const;
const maybe = <T>(...values: readonly T[]) => fc.constantFrom(null, ...values);

/** Where a row's time stands: free, run out, or running. Far from now, so that the test's own pace does not matter. */
const when = fc.constantFrom("free", "past", "future");

/** A row as the protocol can leave it, and as it should not be able to: the rules must agree on both. */
const anyRow = fc.record({
  generation: fc.integer({ min: 0, max: 1 }),
  state: fc.constantFrom("pending", "sent", "done", "dead"),
  holder: maybe(...holders),
  when,
  claim: maybe(...claims),
  isStarted: fc.boolean(),
  isAlone: fc.boolean(),
  failures: fc.integer({ min: 0, max: 3 }),
  interruptions: fc.integer({ min: 0, max: 4 }),
  lonely: fc.integer({ min: 0, max: 3 }),
  accepted: fc.integer({ min: 0, max: 1 }),
  late: fc.integer({ min: 0, max: 1 }),
  lateClaim: maybe(...claims),
  settledClaim: maybe(...claims),
  settledAs: maybe("result", "failure", "dead", "hand-back"),
  error: maybe("an earlier error"),
});
type AnyRow = typeof anyRow extends fc.Arbitrary<infer T> ? T : never;

/** What nearly every row is like when its worker starts or settles it: nothing has happened to it before. */
const plainRow: fc.Arbitrary<AnyRow> = fc
  .record({
    isStarted: fc.boolean(),
    holder: maybe("w1" as const),
    state: fc.constantFrom("pending" as const, "sent" as const),
  })
  .map((row) => ({
    generation: 0,
    isAlone: false,
    failures: 0,
    interruptions: 0,
    lonely: 0,
    accepted: 0,
    late: 0,
    lateClaim: null,
    settledClaim: null,
    settledAs: null,
    error: null,
    ...row,
    claim: row.isStarted ? ("c1" as const) : null,
    when: row.holder ? ("future" as const) : ("free" as const),
  }));
const someRow = fc.oneof(anyRow, plainRow);

/** A claim runs only while the row is held; without a claim nothing is started. */
function tidy(row: AnyRow): AnyRow {
  return { ...row, isStarted: row.isStarted && row.claim !== null && row.when !== "free" };
}

const anyEnding = fc.constantFrom(
  { kind: "result", result: { fresh: true } } as const,
  { kind: "failure", error: "again", permanent: false, retryDelayMs: 0 } as const,
  { kind: "failure", error: "again later", permanent: false, retryDelayMs: 3_600_000 } as const,
  { kind: "failure", error: "never", permanent: true, retryDelayMs: 0 } as const,
  { kind: "hand-back" } as const,
);

describe.skipIf(!hasPostgres())("the rules in SQL and the rules in TypeScript", () => {
  let server: PostgresServer;
  let client: Client;
  let ledger: Ledger;
  beforeAll(async () => {
    server = await startPostgres();
    const { url } = await newDatabase(server);
    ledger = await openLedger(url);
    await ledger.prepare();
    client = new Client({ connectionString: url });
    await client.connect();
    await client.query("SET synchronous_commit = off");
  });
  afterAll(async () => {
    await client?.end();
    await ledger?.close();
    await server?.stop();
  });

  async function write(rows: readonly AnyRow[]): Promise<number> {
    const columns = "generation, state, holder, claim, failures, interruptions, lonely, accepted, late, error";
    await client.query("DELETE FROM outlast.items; DELETE FROM outlast.tally; DELETE FROM results");
    await client.query(
      `INSERT INTO outlast.items (id, data, ${columns}, is_started, is_alone, late_claim, settled_claim, settled_as, visible_at)
      SELECT 'i' || (ord - 1), '{}', ${columns}, "isStarted", "isAlone", "lateClaim", "settledClaim", "settledAs",
        CASE "when" WHEN 'past' THEN now() - interval '1 hour' WHEN 'future' THEN now() + interval '1 hour' END
      FROM ROWS FROM (jsonb_to_recordset($1) AS (generation int, state text, holder text, claim text, failures int, interruptions int,
        lonely int, accepted int, late int, error text, "isStarted" boolean, "isAlone" boolean, "lateClaim" text, "settledClaim" text,
        "settledAs" text, "when" text)) WITH ORDINALITY AS row (${columns}, "isStarted", "isAlone", "lateClaim", "settledClaim", "settledAs",
        "when", ord)`,
      [JSON.stringify(rows)],
    );
    return Date.now();
  }

  /** The rows as the rules see them; times in whole tens of minutes from now, so that both sides' clocks give the same. */
  async function read(): Promise<Map<string, ItemRow>> {
    const { rows } = await client.query<Record<string, never>>(
      `SELECT *, round(extract(epoch FROM visible_at - now()) / 600)::int AS tens FROM outlast.items`,
    );
    return new Map(
      rows.map((row: Record<string, unknown>) => [
        row["id"] as string,
        {
          generation: row["generation"],
          state: row["state"],
          holder: row["holder"],
          visibleAt: row["tens"] ?? -1000,
          claim: row["claim"],
          claimUntil: row["is_started"] ? (row["tens"] ?? -1000) : -1000,
          isAlone: row["is_alone"],
          failures: row["failures"],
          interruptions: row["interruptions"],
          lonely: row["lonely"],
          accepted: row["accepted"],
          late: row["late"],
          lateClaim: row["late_claim"],
          settledClaim: row["settled_claim"],
          settledAs: row["settled_as"],
          error: row["error"],
        } as ItemRow,
      ]),
    );
  }

  /** A row that the rules wrote, in the same tens of minutes; a claim that has run out is the same whenever it did. */
  function coarse(row: ItemRow, now: number): ItemRow {
    const tens = (ms: number) => (ms <= 0 ? -1000 : Math.round((ms - now) / 600_000));
    const until = tens(row.claimUntil);
    return { ...row, visibleAt: tens(row.visibleAt), claimUntil: row.claim === null || until <= 0 ? -1000 : until };
  }

  function settledClaims(row: ItemRow): ItemRow {
    return { ...row, claimUntil: row.claim === null || row.claimUntil <= 0 ? -1000 : row.claimUntil };
  }

  const asRules = (row: AnyRow, now: number): ItemRow => {
    const at = row.when === "free" ? 0 : row.when === "past" ? now - 3_600_000 : now + 3_600_000;
    const { when: _, isStarted, ...rest } = row;
    return { ...rest, visibleAt: at, claimUntil: isStarted ? at : 0 } as ItemRow;
  };

  it("decide a start alike, on any rows", { timeout: 120_000 }, async () => {
    const odd = fc.record({ index: fc.integer({ min: 0, max: 4 }), generation: fc.integer({ min: 0, max: 1 }) });
    const whole = [0, 1, 2, 3].map((index) => ({ index, generation: 0 }));
    const chunk = fc.oneof(fc.array(odd, { minLength: 1, maxLength: 5 }), fc.constant(whole));
    await fc.assert(
      fc.asyncProperty(
        fc.array(someRow.map(tidy), { minLength: 1, maxLength: 4 }),
        chunk,
        fc.boolean(),
        async (rows, asks, isIdle) => {
          const now = await write(rows);
          // Half of the chunks are just the rows there are.
          const asked = asks === whole ? whole.slice(0, rows.length) : asks;
          const before = rows.map((row) => asRules(row, now));
          const items = asked.map(({ index, generation }) => ({ id: `i${index}`, generation }));
          const outcomes = await ledger.start(items, { holder: "w1", leaseMs, isIdle, limits });
          const claim = outcomes.flatMap((outcome) => ("claim" in outcome ? [outcome.claim] : []))[0] ?? "none";
          const rules = { holder: "w1", leaseMs, isIdle, limits, claim, now };
          const decisions = decideStart(
            items,
            asked.map(({ index }) => before[index]),
            rules,
          );
          expect(outcomes.map(roughly)).toEqual(decisions.map(({ outcome }) => roughly(outcome)));
          const wanted = new Map(before.map((row, i) => [`i${i}`, coarse(row, now)]));
          decisions.forEach(({ row }, i) => {
            if (row) wanted.set(items[i]?.id ?? "", coarse(row, now));
          });
          const found = new Map([...(await read())].map(([id, row]) => [id, settledClaims(row)]));
          expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
        },
      ),
      { numRuns: Number(process.env["OUTLAST_SOAK"] ? 5_000 : 150) },
    );
  });

  it("decide a settlement alike, on any rows", { timeout: 120_000 }, async () => {
    const oddAsk = fc.record({
      claim: fc.constantFrom(...claims),
      generation: fc.integer({ min: 0, max: 1 }),
      ending: anyEnding,
    });
    const plainAsk = fc.constant({
      claim: "c1" as const,
      generation: 0,
      ending: { kind: "result", result: 1 } as const,
    });
    const plain = fc.tuple(plainRow, plainAsk);
    const odd = fc.tuple(someRow.map(tidy), oddAsk);
    const chunk = fc.oneof(
      fc.array(odd, { minLength: 1, maxLength: 4 }),
      fc.array(plain, { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(chunk, async (pairs) => {
        const now = await write(pairs.map(([row]) => row));
        const before = pairs.map(([row]) => asRules(row, now));
        const settlements = pairs.map(([, { claim, generation, ending }], i) => ({
          id: `i${i}`,
          generation,
          claim,
          ending,
        }));
        const outcomes = await ledger.settle(settlements, { holder: "w1", limits });
        const decisions = settlements.map((settlement, i) =>
          decideSettle(settlement, before[i], { holder: "w1", limits, now }),
        );
        expect(outcomes).toEqual(decisions.map(({ outcome }): SettleOutcome => outcome));
        const wanted = before.map((row, i) => coarse(decisions[i]?.row ?? row, now));
        const found = await read();
        expect(pairs.map((_, i) => dueIsFree(settledClaims(found.get(`i${i}`) as ItemRow)))).toEqual(
          wanted.map(dueIsFree),
        );
        const stored = (await client.query("SELECT id FROM results ORDER BY id")).rows.map(
          (row: { id: string }) => row.id,
        );
        expect(stored).toEqual(settlements.filter((_, i) => decisions[i]?.isStored).map(({ id }) => id));
      }),
      { numRuns: Number(process.env["OUTLAST_SOAK"] ? 5_000 : 150) },
    );
  });
});

/** A delay of nothing is written as a time that is now, or as none: both are claimable at once. */
function dueIsFree(row: ItemRow): ItemRow {
  return { ...row, visibleAt: row.visibleAt === 0 ? -1000 : row.visibleAt };
}

/** Delays to the nearest ten minutes. */
function roughly(outcome: StartOutcome): unknown {
  return outcome.kind === "handed-back" ? { ...outcome, delayMs: Math.round(outcome.delayMs / 600_000) } : outcome;
}
