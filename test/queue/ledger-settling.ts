import { describe, expect, it } from "vitest";
import type { LedgerScene } from "./ledger-suite.ts";
import {
  expectSound,
  failure,
  handBack,
  idsOf,
  key,
  leaseMs,
  permanent,
  publish,
  result,
  resultsOf,
} from "./ledger-world.ts";

/** Lets W1 start x, lose its claim, and W2 start it. */
async function overtake({ ledger, under, w1, w2 }: LedgerScene): Promise<void> {
  await publish(ledger, ["x"]);
  await w1.take();
  await under.advance(leaseMs + 1);
  await w2.take();
}

/** Settling: what is accepted, repeated, late and refused. */
export function describeSettling(scene: () => LedgerScene): void {
  describe("settling", () => {
    it("stores a chunk of mixed endings, each with its own outcome", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a", "b", "c", "d"]);
      await w1.take();
      const claim = (id: string) => w1.claims.get(id) ?? "";
      const settle = (id: string, ending: Parameters<typeof w1.settleOne>[1]) => ({
        ...key(id),
        claim: claim(id),
        ending,
      });
      const outcomes = await ledger.settle(
        [
          settle("a", result({ label: "cat" })),
          settle("b", failure("oh", 1_000)),
          settle("c", permanent("never")),
          settle("d", handBack),
        ],
        { holder: "w1", limits: { attempts: 3, suspectAfter: 2, lonelyInterruptions: 3 } },
      );
      expect(outcomes).toEqual([
        { kind: "accepted" },
        { kind: "accepted", delayMs: 1_000 },
        { kind: "accepted", isDead: true },
        { kind: "accepted", delayMs: 0 },
      ]);
      expect(await resultsOf(ledger)).toEqual({ a: { label: "cat" } });
      expect(await ledger.depth()).toMatchObject({ ready: 1, delayed: 1, leased: 0, dead: 1, done: 1, total: 4 });
    });

    it("takes the same settlement from the same claim for the same, whatever it was", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["r", "f", "d", "h"]);
      const items = await w1.take();
      const endings = { r: result(1), f: failure("oh", 700), d: permanent("never"), h: handBack };
      for (const [id, ending] of Object.entries(endings)) {
        const first = await w1.settleOne(key(id), ending);
        expect(first.kind).toBe("accepted");
        expect(await w1.settleOne(key(id), ending)).toEqual({ ...first, kind: "repeated" });
        expect(await w1.settleOne(key(id), ending)).toEqual({ ...first, kind: "repeated" });
      }
      expect(items).toHaveLength(4);
      expect(await ledger.depth()).toMatchObject({ done: 1, dead: 1, delayed: 1, ready: 1, late: 0 });
      expect(await ledger.dead(undefined, 9)).toMatchObject([{ id: "d", failures: 1 }]);
      await w1.lease();
      expect(await w1.startOne(key("h"))).toMatchObject({ failures: 0 });
    });

    it("knows a repeated failure when another worker is at the item already", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["x"]);
      await w1.take();
      await w1.settle([key("x")], failure("oh"));
      await w2.take();
      expect(await w1.settleOne(key("x"), failure("oh"))).toMatchObject({ kind: "repeated" });
      expect(await w2.settleOne(key("x"), failure("again"))).toMatchObject({ kind: "accepted" });
      await w1.lease();
      expect(await w1.startOne(key("x"))).toMatchObject({ failures: 2 });
    });

    it("refuses a failure and a hand-back from a claim that is no longer current", async () => {
      const { ledger, w1, w2 } = scene();
      await overtake(scene());
      expect(await w1.settleOne(key("x"), failure("late"))).toEqual({ kind: "refused" });
      expect(await w1.settleOne(key("x"), permanent("late"))).toEqual({ kind: "refused" });
      expect(await w1.settleOne(key("x"), handBack)).toEqual({ kind: "refused" });
      expect(await ledger.depth()).toMatchObject({ leased: 1, dead: 0 });
      expect(await w2.settleOne(key("x"), result(2))).toMatchObject({ kind: "accepted" });
    });

    it("accepts a result from a claim that is no longer current, and lets it stand", async () => {
      const { ledger, w1, w2 } = scene();
      await overtake(scene());
      expect(await w1.settleOne(key("x"), result("first"))).toMatchObject({ kind: "accepted" });
      expect(await w2.settleOne(key("x"), result("second"))).toEqual({ kind: "late" });
      expect(await resultsOf(ledger)).toEqual({ x: "first" });
      await expectSound(ledger, { done: 1 });
    });

    it("lets nothing over a result: no failure, no dead letter, no hand-back", async () => {
      const { ledger, w1, w2 } = scene();
      await overtake(scene());
      await w1.settle([key("x")], result("first"));
      expect(await w2.settleOne(key("x"), permanent("no"))).toEqual({ kind: "refused" });
      expect(await w2.settleOne(key("x"), failure("no"))).toEqual({ kind: "refused" });
      expect(await w2.settleOne(key("x"), handBack)).toEqual({ kind: "refused" });
      expect(await w1.settleOne(key("x"), permanent("no"))).toEqual({ kind: "refused" });
      await expectSound(ledger, { done: 1 });
      expect(await w2.lease()).toEqual([]);
    });

    it("puts a result over a dead letter", async () => {
      const { ledger, w1, w2 } = scene();
      await overtake(scene());
      await w2.settle([key("x")], permanent("no"));
      expect(await ledger.depth()).toMatchObject({ dead: 1, done: 0 });
      expect(await w1.settleOne(key("x"), result("found"))).toMatchObject({ kind: "accepted" });
      expect(await ledger.depth()).toMatchObject({ dead: 0, done: 1 });
      expect(await ledger.dead(undefined, 9)).toEqual([]);
      await expectSound(ledger, { done: 1 });
    });

    it("counts a late result once, however often it is said", async () => {
      const { ledger, w1, w2 } = scene();
      await overtake(scene());
      await w2.settle([key("x")], result("mine"));
      for (let i = 0; i < 3; i += 1) expect(await w1.settleOne(key("x"), result("late"))).toEqual({ kind: "late" });
      expect((await ledger.depth()).late).toBe(1);
      expect(await ledger.audit()).toMatchObject({ late: 1, duplicates: [], done: 1 });
    });

    it("accepts a failure and a hand-back from a claim that ran out while nobody else started", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["x", "y"]);
      await w1.take();
      await under.advance(leaseMs + 1);
      expect(idsOf(await w2.lease())).toEqual(["x", "y"]);
      expect(await w1.settleOne(key("x"), failure("slow"))).toMatchObject({ kind: "accepted" });
      expect(await w1.settleOne(key("y"), handBack)).toMatchObject({ kind: "accepted" });
      // They stay leased to W2, and the ended claims are not charged.
      expect(await w1.lease()).toEqual([]);
      expect(await w2.start([key("x"), key("y")])).toMatchObject([
        { kind: "started", failures: 1 },
        { kind: "started", failures: 0 },
      ]);
      expect((await ledger.depth()).interruptions).toBe(0);
    });

    it("makes a failed item claimable after its delay, and dead with its last error after so many failures", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["x"]);
      for (const [i, error] of ["one", "two"].entries()) {
        await w1.take();
        expect(await w1.settleOne(key("x"), failure(error, 2_000))).toEqual({ kind: "accepted", delayMs: 2_000 });
        expect(await ledger.depth()).toMatchObject({ delayed: 1, ready: 0, leased: 0 });
        expect(await w1.lease()).toEqual([]);
        await under.advance(2_001);
        expect((await ledger.depth()).ready, `after failure ${i}`).toBe(1);
      }
      await w1.take();
      expect(await w1.settleOne(key("x"), failure("three"))).toMatchObject({ kind: "accepted", isDead: true });
      expect(await ledger.dead(undefined, 9)).toMatchObject([
        { id: "x", error: "three", failures: 3, data: { of: "x" } },
      ]);
      expect(await w1.lease()).toEqual([]);
    });

    it("gives a handed-back item to another at once", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["x"]);
      await w1.take();
      await w1.settle([key("x")], handBack);
      expect(idsOf(await w2.take())).toEqual(["x"]);
      expect((await ledger.depth()).interruptions).toBe(0);
    });

    it("refuses what it does not know and stores nothing of it", async () => {
      const { ledger, w1 } = scene();
      expect(await w1.settleOne(key("stranger"), result(1))).toEqual({ kind: "refused" });
      expect(await resultsOf(ledger)).toEqual({});
    });

    it("stores one result when two connections settle the same item at the same moment", async () => {
      const { ledger, w1, w2 } = scene();
      const ids = Array.from({ length: 20 }, (_, i) => `i${i}`);
      await publish(ledger, ids);
      const items = await w1.take(20);
      for (const [id, claim] of w1.claims) w2.claims.set(id, `${claim}'`);
      const [one, two] = await Promise.all([w1.settle(items, result("w1")), w2.settle(items, result("w2"))]);
      items.forEach((_, i) => {
        expect(new Set([one[i]?.kind, two[i]?.kind])).toEqual(new Set(["accepted", "late"]));
      });
      expect((await ledger.depth()).late).toBe(20);
      await expectSound(ledger, { done: 20 });
    });
  });
}
