import { describe, expect, it } from "vitest";
import type { LedgerScene } from "./ledger-suite.ts";
import { idsOf, key, leaseMs, publish, result } from "./ledger-world.ts";

/** Leases of a ledger that is the queue too. */
export function describeLeases(scene: () => LedgerScene): void {
  describe("leases", () => {
    it("leases no more than asked, and an item to one holder at a time", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      expect(idsOf(await w1.lease(2))).toEqual(["a", "b"]);
      expect(idsOf(await w2.lease(2))).toEqual(["c"]);
      expect(await w1.lease(2)).toEqual([]);
    });

    it("gives every item to exactly one of two racing workers", async () => {
      const { ledger, w1, w2 } = scene();
      const ids = Array.from({ length: 120 }, (_, i) => `i${i}`);
      await publish(ledger, ids);
      const drain = async (worker: typeof w1) => {
        const mine: string[] = [];
        for (let got = await worker.lease(5); got.length > 0; got = await worker.lease(5)) mine.push(...idsOf(got));
        return mine;
      };
      const shares = await Promise.all([drain(w1), drain(w2), drain(w1)]);
      expect(shares.flat().toSorted()).toEqual(ids.toSorted());
    });

    it("gives an item to another when its lease ran out, not a moment earlier", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a"]);
      await w1.lease();
      await under.advance(leaseMs - 1_000);
      expect(await w2.lease()).toEqual([]);
      await under.advance(1_001);
      expect(idsOf(await w2.lease())).toEqual(["a"]);
    });

    it("gives what came back before what is fresh", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a", "b", "c", "d"]);
      await w1.lease(1);
      await under.advance(leaseMs + 1);
      expect(idsOf(await w2.lease(2))).toEqual(["a", "b"]);
    });

    it("keeps a lease that is renewed, and says which are lost", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      const items = await w1.lease();
      await w1.start([key("a")]);
      for (let i = 0; i < 3; i += 1) {
        await under.advance(leaseMs - 1_000);
        expect(await ledger.renew([key("a"), key("b")], leaseMs, "w1")).toEqual([]);
      }
      expect(idsOf(await w2.lease())).toEqual(["c"]);
      expect(await ledger.renew(items, leaseMs, "w1")).toEqual([key("c")]);
      await w1.settle([key("a")], result(1));
      expect(await ledger.renew([key("a"), key("nowhere")], leaseMs, "w1")).toEqual([key("a"), key("nowhere")]);
    });

    it("charges nothing for leases, however often they run out", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a", "b"]);
      for (let i = 0; i < 5; i += 1) {
        expect(idsOf(await w1.lease())).toEqual(["a", "b"]);
        await under.advance(leaseMs + 1);
      }
      expect((await ledger.depth()).interruptions).toBe(0);
      await w1.lease();
      expect(await w1.start([key("a"), key("b")])).toMatchObject([{ kind: "started" }, { kind: "started" }]);
    });

    it("renews a lease without bringing the lost claim of an earlier start back to life", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a"]);
      await w1.take();
      await under.advance(leaseMs + 1);
      await w1.lease();
      await ledger.renew([key("a")], leaseMs, "w1");
      expect(await w1.startOne(key("a"))).toMatchObject({ kind: "started" });
      expect((await ledger.depth()).interruptions).toBe(1);
    });

    it("gives released items to others at once, uncharged, in their old place", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      const items = await w1.lease(2);
      await ledger.release(items, "w1");
      expect(idsOf(await w2.lease(3))).toEqual(["a", "b", "c"]);
      expect(await w2.start([key("a"), key("b")])).toMatchObject([{ kind: "started" }, { kind: "started" }]);
      expect((await ledger.depth()).interruptions).toBe(0);
    });

    it("releases neither what another holds nor what was started", async () => {
      const { ledger, w1, w2 } = scene();
      await publish(ledger, ["a", "b"]);
      await w1.lease(2);
      await w1.start([key("a")]);
      await ledger.release([key("a"), key("b")], "w2");
      expect(await w2.lease()).toEqual([]);
      await ledger.release([key("a"), key("b")], "w1");
      expect(idsOf(await w2.lease())).toEqual(["b"]);
    });

    it("wakes a waiting worker when there is something to claim", async () => {
      const { ledger, w2 } = scene();
      await publish(ledger, []);
      let isAwake = false;
      const waiting = w2.ledger.wait(20_000).then(() => {
        isAwake = true;
      });
      expect(isAwake).toBe(false);
      await ledger.add([{ id: "a", data: {} }]);
      await waiting;
      expect(idsOf(await w2.lease())).toEqual(["a"]);
    });

    it("stops waiting when told, and when the time is over", async () => {
      const { ledger } = scene();
      const stop = new AbortController();
      const waiting = ledger.wait(20_000, stop.signal);
      stop.abort();
      await waiting;
      await ledger.wait(5);
    });
  });
}
