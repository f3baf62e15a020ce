import { describe, expect, it } from "vitest";
import type { LedgerScene } from "./ledger-suite.ts";
import { failure, handBack, idsOf, key, leaseMs, limits, permanent, publish, result } from "./ledger-world.ts";

/** Lets the claim on `ids` run out `times` times, as a worker that dies each time would. */
async function lose({ under, w1 }: LedgerScene, ids: readonly string[], times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await w1.lease(100);
    await w1.start(ids.map((id) => key(id)));
    await under.advance(leaseMs + 1);
  }
}

/** Starting: claims, interruptions, suspects. */
export function describeStarting(scene: () => LedgerScene): void {
  describe("starting", () => {
    it("gives a claim of its own to every start, and says how often the item failed", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a"]);
      await w1.take();
      const first = w1.claims.get("a");
      expect(first).toMatch(/.{16}/);
      await w1.settle([key("a")], failure("once"));
      await w1.lease();
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "started", failures: 1 });
      expect(w1.claims.get("a")).not.toBe(first);
    });

    it("finds done, dead and older generations settled", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["done", "dead", "again"]);
      await w1.take();
      await w1.settle([key("done")], result(1));
      await w1.settle([key("dead"), key("again")], permanent("no"));
      await ledger.retry(["again"]);
      const outcomes = await w2.start([key("done"), key("dead"), key("again", 0), key("again", 1)]);
      expect(outcomes).toMatchObject([
        { kind: "settled" },
        { kind: "settled" },
        { kind: "settled" },
        { kind: "started" },
      ]);
    });

    it("does not call settled what it does not know", async () => {
      const { w1 } = scene();
      expect(await w1.startOne(key("stranger"))).toMatchObject({ kind: "handed-back", isUnknown: true });
    });

    it("hands back, uncharged and for later, what another's claim still holds", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a"]);
      await w1.take();
      await under.advance(10_000);
      const outcome = await w2.startOne(key("a"));
      expect(outcome.kind).toBe("handed-back");
      expect("delayMs" in outcome && outcome.delayMs).toBeGreaterThan(leaseMs - 11_000);
      expect("delayMs" in outcome && outcome.delayMs).toBeLessThanOrEqual(leaseMs);
      expect((await ledger.depth()).interruptions).toBe(0);
      expect(await w1.settleOne(key("a"), result(1))).toMatchObject({ kind: "accepted" });
    });

    it("starts an item once when a chunk holds it twice", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a"]);
      await w1.lease();
      expect(await w1.start([key("a"), key("a")])).toMatchObject([{ kind: "started" }, { kind: "handed-back" }]);
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "handed-back" });
      expect((await ledger.depth()).interruptions).toBe(0);
    });

    it("does not start what another worker has leased meanwhile", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a"]);
      await w1.lease();
      await under.advance(leaseMs + 1);
      await w2.lease();
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "handed-back" });
      expect(await w2.startOne(key("a"))).toMatchObject({ kind: "started" });
    });

    it("charges a started claim that ran out, once", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a"]);
      await w1.take();
      await under.advance(leaseMs + 1);
      expect((await ledger.depth()).interruptions).toBe(0);
      await w2.lease();
      expect(await w2.startOne(key("a"))).toMatchObject({ kind: "started", failures: 0 });
      expect((await ledger.depth()).interruptions).toBe(1);
      await w2.settle([key("a")], handBack);
      await w1.take();
      expect((await ledger.depth()).interruptions).toBe(1);
    });

    it("keeps a delay that the broker does not", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a"]);
      await w1.take();
      await w1.settle([key("a")], failure("later", 5_000));
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "handed-back" });
      await under.advance(5_001);
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "started", failures: 1 });
    });
  });

  describe("suspects", () => {
    it("starts an item alone from its second interruption on, and hands its neighbours back uncharged", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["x"]);
      await lose(scene(), ["x"], 2);
      await publish(ledger, ["y", "z"]);
      const items = await w1.lease();
      expect(idsOf(items)).toEqual(["x", "y", "z"]);
      expect(await w1.start([key("y"), key("x"), key("z")])).toMatchObject([
        { kind: "handed-back", delayMs: 0 },
        { kind: "started-alone" },
        { kind: "handed-back", delayMs: 0 },
      ]);
      expect(await w2.take()).toMatchObject([{ id: "y" }, { id: "z" }]);
      expect((await ledger.depth()).interruptions).toBe(2);
    });

    it("lets a suspect wait while something else runs, and starts the others", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x"]);
      await lose(scene(), ["x"], 2);
      await publish(ledger, ["y"]);
      await w1.lease();
      expect(await w1.start([key("x"), key("y")], false)).toMatchObject([{ kind: "must-wait" }, { kind: "started" }]);
      await w1.settle([key("y")], result(1));
      expect(await w1.startOne(key("x"))).toMatchObject({ kind: "started-alone" });
      expect((await ledger.depth()).interruptions).toBe(2);
    });

    it("starts one suspect at a time", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x", "y"]);
      await lose(scene(), ["x", "y"], 2);
      await w1.lease();
      expect(await w1.start([key("x"), key("y")])).toMatchObject([{ kind: "started-alone" }, { kind: "handed-back" }]);
    });

    it("buries what was interrupted too often alone, with a reason, and nothing before", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["x"]);
      await lose(scene(), ["x"], 2 + limits.lonelyInterruptions - 1);
      await w1.lease();
      expect(await w1.startOne(key("x"))).toMatchObject({ kind: "started-alone" });
      await under.advance(leaseMs + 1);
      await w1.lease();
      expect(await w1.startOne(key("x"))).toMatchObject({ kind: "settled" });
      const [dead] = await ledger.dead(undefined, 10);
      expect(dead).toMatchObject({ id: "x", failures: 0, interruptions: 2 + limits.lonelyInterruptions });
      expect(dead?.error).toMatch(/3 times/);
      expect(await ledger.depth()).toMatchObject({ dead: 1, ready: 0, leased: 0 });
      expect(await ledger.isDrained()).toBe(true);
    });

    it("buries an item once when a chunk holds it twice", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x"]);
      await lose(scene(), ["x"], 2 + limits.lonelyInterruptions);
      await w1.lease();
      expect(await w1.start([key("x"), key("x")])).toMatchObject([{ kind: "settled" }, { kind: "settled" }]);
      expect(await ledger.depth()).toMatchObject({
        dead: 1,
        ready: 0,
        total: 1,
        interruptions: 2 + limits.lonelyInterruptions,
      });
    });

    it("does not bury an innocent that was interrupted beside a poison", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["poison", "innocent"]);
      await lose(scene(), ["poison", "innocent"], 2);
      // Both are suspects now; each runs alone, and only one of them kills.
      await lose(scene(), ["poison"], limits.lonelyInterruptions);
      await w2.lease();
      expect(await w2.start([key("poison"), key("innocent")])).toMatchObject([
        { kind: "settled" },
        { kind: "started-alone" },
      ]);
      expect(await w2.settleOne(key("innocent"), result(1))).toMatchObject({ kind: "accepted" });
      expect(await ledger.depth()).toMatchObject({ dead: 1, done: 1 });
      void w1;
    });

    it("never buries for hand-backs, however many", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x"]);
      for (let i = 0; i < 30; i += 1) {
        const items = await w1.take();
        expect(await w1.settle(items, handBack)).toMatchObject([{ kind: "accepted", delayMs: 0 }]);
      }
      await w1.lease();
      expect(await w1.startOne(key("x"))).toMatchObject({ kind: "started", failures: 0 });
      expect(await ledger.depth()).toMatchObject({ interruptions: 0, dead: 0 });
    });
  });
}
