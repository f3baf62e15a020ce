import fc from "fast-check";
import { describe, it } from "vitest";
import type { Ending } from "../../src/results/index.ts";
import { LedgerModel } from "./ledger-model.ts";
import { failure, handBack, leaseMs, limits, type OpenLedger, permanent, result } from "./ledger-world.ts";

type Lease<Do> = { readonly do: Do; readonly worker: number; readonly max: number };
type Step =
  | { readonly do: "publish"; readonly item: number }
  | Lease<"lease">
  | Lease<"renew">
  | Lease<"release">
  | {
      readonly do: "start";
      readonly worker: number;
      readonly items: readonly number[];
      readonly isIdle: boolean;
      readonly isOld: boolean;
    }
  | {
      readonly do: "settle";
      readonly worker: number;
      readonly nth: number;
      readonly ending: number;
      readonly isRepeated: boolean;
    }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "retry" }
  | { readonly do: "send" };

const itemCount = 4;
const workers = ["w0", "w1", "w2"];
const worker = fc.nat(workers.length - 1);
const endings: readonly Ending[] = [result("r"), failure("f", 0), failure("d", 5_000), permanent("p"), handBack];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("publish" as const), item: fc.nat(itemCount - 1) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("lease" as const), worker, max: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("renew" as const, "release" as const), worker, max: fc.constant(0) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("start" as const),
      worker,
      items: fc.array(fc.nat(itemCount - 1), { minLength: 1, maxLength: 3 }),
      isIdle: fc.boolean(),
      isOld: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      worker,
      nth: fc.nat(5),
      ending: fc.nat(endings.length - 1),
      isRepeated: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 16_000, leaseMs + 1) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("retry" as const, "send" as const) }) },
);

/** Random workers over one ledger, held against the oracle after every step. */
export function describeRandomWorkers(name: string, open: OpenLedger, runs: number): void {
  describe(`random workers: ${name}`, () => {
    it("lose nothing, double nothing, and are charged what they should be", { timeout: 900_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => play(open, steps)),
        { numRuns: runs, seed: Number(process.env["OUTLAST_SEED"] ?? 20_261_115), endOnFailure: true },
      );
    });
  });
}

async function play(open: OpenLedger, steps: readonly Step[]): Promise<void> {
  const under = await open();
  const { ledger } = under;
  const model = new LedgerModel(limits);
  /** What each worker was ever given: it may settle any of it, at any time, again. */
  const hands = workers.map((): { id: string; generation: number; claim: string }[] => []);
  try {
    await ledger.prepare();
    await ledger.openPublication("p");
    await ledger.closePublications("p");
    for (const [i, each] of steps.entries()) {
      await act(each);
      await model.check(ledger);
      if (i % 10 === 9) await model.checkRows(ledger);
    }
    // Whatever happened, the rest can be worked off.
    for (let i = 0; i < 200 && !(await ledger.isDrained()); i += 1) {
      await act({ do: "wait", ms: leaseMs + 1 });
      await act({ do: "lease", worker: 0, max: 3 });
      const items = [...model.stories.keys()].filter((id) => model.story(id).lease?.holder === "w0").map(Number);
      if (items.length === 0) continue;
      await act({ do: "start", worker: 0, items, isIdle: true, isOld: false });
      for (let nth = 0; nth < 3; nth += 1) await act({ do: "settle", worker: 0, nth, ending: 0, isRepeated: false });
    }
    await model.check(ledger);
    await model.checkRows(ledger);
    if (model.stories.size > 0 && !(await ledger.isDrained())) throw new Error("not drained in the end");
  } finally {
    await under.dispose();
  }

  async function act(each: Step): Promise<void> {
    if (each.do === "publish") {
      const id = String(each.item);
      const isNew = model.add(id);
      const added = await ledger.add([{ id, data: {} }]);
      if (added !== Number(isNew)) throw new Error(`publishing ${id} added ${added}`);
    } else if (each.do === "wait") {
      await under.advance(each.ms);
      model.now += each.ms;
    } else if (each.do === "retry") {
      const retried = await ledger.retry(undefined);
      const wanted = model.retry();
      if (retried !== wanted) throw new Error(`${retried} retried, not ${wanted}`);
    } else if (each.do === "send") {
      // A separate broker's states beside the leases of a shared one: the rules must not care.
      await ledger.retryMissing();
    } else await actAs(each, workers[each.worker] ?? "", hands[each.worker] ?? []);
  }

  async function actAs(
    each: Extract<Step, { readonly worker: number }>,
    holder: string,
    hand: { id: string; generation: number; claim: string }[],
  ): Promise<void> {
    const known = [...model.stories].map(([id, { generation }]) => ({ id, generation }));
    if (each.do === "lease") {
      const wanted = known.filter(({ id }) => model.isClaimable(id)).length;
      const got = await ledger.lease(each.max, leaseMs, holder);
      for (const { id } of got) model.lease(id, holder);
      if (got.length !== Math.min(wanted, each.max)) throw new Error(`leased ${got.length} of ${wanted}`);
    } else if (each.do === "renew") {
      const lost = await ledger.renew(known, leaseMs, holder);
      for (const { id, generation } of known)
        model.renew(
          id,
          generation,
          holder,
          lost.some((item) => item.id === id),
        );
    } else if (each.do === "release") {
      await ledger.release(known, holder);
      for (const { id } of known) model.release(id, holder);
    } else if (each.do === "start") {
      const items = each.items.map(String).filter((id) => model.stories.has(id));
      const generations = items.map((id) => Math.max(0, model.story(id).generation - Number(each.isOld)));
      const keys = items.map((id, i) => ({ id, generation: generations[i] ?? 0 }));
      if (keys.length === 0) return;
      const got = await ledger.start(keys, { holder, leaseMs, isIdle: each.isIdle, limits });
      model.start(items, generations, holder, each.isIdle, got);
      got.forEach((outcome, i) => {
        const key = keys[i];
        if (key && "claim" in outcome) hand.unshift({ ...key, claim: outcome.claim });
      });
    } else {
      const mine = hand[each.nth % Math.max(1, hand.length)];
      const ending = endings[each.ending];
      if (!mine || !ending) return;
      const own: Ending = ending.kind === "result" ? result(`${holder} ${mine.claim}`) : ending;
      for (let i = 0; i < (each.isRepeated ? 2 : 1); i += 1) {
        const before = JSON.stringify([...model.stories.values()]);
        const [got] = await ledger.settle([{ ...mine, ending: own }], { holder, limits });
        if (!got) throw new Error("no outcome");
        model.settle(mine.id, mine.generation, mine.claim, holder, own, got);
        // The second time nothing may move.
        if (i === 1 && (got.kind === "accepted" || JSON.stringify([...model.stories.values()]) !== before)) {
          throw new Error(`repeated ${own.kind} was ${got.kind}`);
        }
      }
    }
  }
}
