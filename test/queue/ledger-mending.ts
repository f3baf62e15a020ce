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

/** Retry, audit, depth, purge. */
export function describeMending(scene: () => LedgerScene): void {
  describe("retry", () => {
    it("gives dead items a new life with nothing of the old one", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["x", "y"]);
      await w1.take();
      await under.advance(leaseMs + 1);
      await w2.take();
      await w2.settle([key("x"), key("y")], permanent("no"));
      expect(await ledger.retry(["x"])).toBe(1);
      expect(await ledger.retry(["x"])).toBe(0);
      expect(idsOf(await ledger.dead(undefined, 9))).toEqual(["y"]);
      const items = await w1.lease();
      expect(items).toEqual([{ id: "x", generation: 1, data: { of: "x" } }]);
      expect(await w1.startOne(key("x", 1))).toMatchObject({ kind: "started", failures: 0 });
      expect(await w2.settleOne(key("x"), permanent("from the old life"))).toEqual({ kind: "refused" });
      await w1.settle([key("x", 1)], result(1));
      await expectSound(ledger, { done: 1, dead: 1 });
    });

    it("retries all dead ones and nothing else", async () => {
      const { ledger, w1 } = scene();
      const ids = Array.from({ length: 12 }, (_, i) => `i${i}`);
      await publish(ledger, ids);
      const items = await w1.take(12);
      await w1.settle(items.slice(0, 4), permanent("no"));
      await w1.settle(items.slice(4, 8), result(1));
      expect(await ledger.retry(undefined)).toBe(4);
      expect(await ledger.depth()).toMatchObject({ ready: 4, done: 4, leased: 4, dead: 0 });
      expect(await ledger.retry(["i5", "nowhere"])).toBe(0);
    });

    it("takes a result of the old life for the new one too", async () => {
      const { ledger, under, w1, w2 } = scene();
      await publish(ledger, ["x"]);
      await w1.take();
      await under.advance(leaseMs + 1);
      await w2.take();
      await w2.settle([key("x")], permanent("no"));
      await ledger.retry(undefined);
      expect(await w1.settleOne(key("x"), result("old"))).toMatchObject({ kind: "accepted" });
      expect(await w2.startOne(key("x", 1))).toMatchObject({ kind: "settled" });
      await expectSound(ledger, { done: 1 });
    });

    it("sends again, in the same generation, what was sent and is not in a worker's hands", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["lost", "held", "run-out", "done"]);
      await ledger.markSent(["lost", "held", "run-out", "done"].map((id) => key(id)));
      await w1.start([key("run-out"), key("done")]);
      await w1.settle([key("done")], result(1));
      await under.advance(leaseMs + 1);
      await w1.start([key("held")]);
      expect(await ledger.retryMissing()).toBe(2);
      expect(idsOf((await ledger.pending(undefined, 9)).items).toSorted()).toEqual(["lost", "run-out"]);
      expect(await w1.startOne(key("run-out"))).toMatchObject({ kind: "started" });
      expect((await ledger.depth()).interruptions).toBe(1);
    });
  });

  describe("dead letters", () => {
    it("are listed page by page, with their data and error", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      await w1.settle(await w1.take(), permanent("bad picture"));
      const first = await ledger.dead(undefined, 2);
      expect(idsOf(first)).toEqual(["a", "b"]);
      expect(idsOf(await ledger.dead("b", 2))).toEqual(["c"]);
      expect(await ledger.dead("c", 2)).toEqual([]);
      expect(first[0]).toMatchObject({
        data: { of: "a" },
        error: "bad picture",
        failures: 1,
        interruptions: 0,
        generation: 0,
      });
      expect(first[0]?.diedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    });
  });

  describe("depth", () => {
    it("equals the truth at every step", async () => {
      const { ledger, under, w1, w2 } = scene();
      const expectDepth = async (ready: number, leased: number, delayed: number, dead: number, done: number) => {
        const depth = await ledger.depth();
        expect(depth).toMatchObject({
          ready,
          leased,
          delayed,
          dead,
          done,
          total: ready + leased + delayed + dead + done,
        });
        return depth;
      };
      expect((await expectDepth(0, 0, 0, 0, 0)).oldestReadySeconds).toBeUndefined();
      await publish(ledger, ["a", "b", "c", "d", "e"]);
      await under.advance(10_000);
      const depth = await expectDepth(5, 0, 0, 0, 0);
      expect(depth.oldestReadySeconds).toBeGreaterThanOrEqual(10);
      expect(depth.oldestReadySeconds).toBeLessThan(60);
      await w1.lease(4);
      await expectDepth(1, 4, 0, 0, 0);
      await w1.start([key("a"), key("b"), key("c")]);
      await expectDepth(1, 4, 0, 0, 0);
      await w1.settle([key("a")], result(1));
      await w1.settle([key("b")], failure("oh", 50_000));
      await w1.settle([key("c")], permanent("no"));
      await expectDepth(1, 1, 1, 1, 1);
      await under.advance(leaseMs + 1);
      await expectDepth(2, 0, 1, 1, 1);
      await under.advance(30_000);
      await expectDepth(3, 0, 0, 1, 1);
      await ledger.retry(undefined);
      await expectDepth(4, 0, 0, 0, 1);
      await w2.settle(await w2.take(1), handBack);
      await expectDepth(4, 0, 0, 0, 1);
    });

    it("counts items of a separate broker: sent is ready, claimed is leased", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      await ledger.markSent([key("a"), key("b")]);
      await w1.start([key("a")]);
      expect(await ledger.depth()).toMatchObject({ ready: 2, leased: 1, total: 3 });
      await under.advance(leaseMs + 1);
      expect(await ledger.depth()).toMatchObject({ ready: 3, leased: 0 });
    });

    it("knows how many were settled in the last minute", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      await w1.take();
      await w1.settle([key("a")], result(1));
      await w1.settle([key("b")], permanent("no"));
      expect((await ledger.depth()).ratePerMinute).toBe(2);
      await under.advance(120_000);
      expect((await ledger.depth()).ratePerMinute).toBe(0);
    });
  });

  describe("audit", () => {
    it("names what is published and not settled, and what is done without a row", async () => {
      const { ledger, under, w1 } = scene();
      await publish(ledger, ["a", "b", "c", "d"]);
      const items = await w1.take(3);
      await w1.settle(items.slice(0, 2), result(1));
      await w1.settle(items.slice(2), permanent("no"));
      await under.tamper({ remove: "b" });
      const audit = await ledger.audit();
      expect(audit).toMatchObject({ published: 4, done: 2, dead: 1, duplicates: [], late: 0, openPublications: 0 });
      expect(audit.missing.toSorted()).toEqual(["b", "d"]);
    });

    it("looks at all of many", async () => {
      const { ledger, w1 } = scene();
      await ledger.openPublication("p");
      await ledger.add(Array.from({ length: 6_000 }, (_, i) => ({ id: `i${i}`, data: {} })));
      const items = await w1.lease(2_000);
      await w1.start(items);
      await w1.settle(items, result(0));
      const audit = await ledger.audit();
      expect(audit).toMatchObject({ published: 6_000, done: 2_000, openPublications: 1 });
      expect(new Set(audit.missing).size).toBe(4_000);
    });
  });

  describe("purge", () => {
    it("forgets items and publications and leaves the results", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a", "b", "c"]);
      const items = await w1.take();
      await w1.settle(items.slice(0, 1), result("kept"));
      await w1.settle(items.slice(1, 2), permanent("no"));
      expect(await ledger.purge()).toBe(3);
      expect(await ledger.depth()).toMatchObject({ ready: 0, leased: 0, delayed: 0, dead: 0, done: 0, total: 0 });
      expect(await ledger.isDrained()).toBe(false);
      expect(await resultsOf(ledger)).toEqual({ a: "kept" });
      expect(await w1.settleOne(key("c"), result(1))).toEqual({ kind: "refused" });
      expect(await publish(ledger, ["a", "b", "c"])).toBe(3);
    });
  });
}
