import { describe, expect, it } from "vitest";
import type { LedgerScene } from "./ledger-suite.ts";
import { handBack, idsOf, key, permanent, publish, result, resultsOf } from "./ledger-world.ts";

/** Publications, items, what is pending, and when all is drained. */
export function describePublishing(scene: () => LedgerScene): void {
  describe("publishing", () => {
    it("adds nothing when the same dataset is published again, and keeps the data it had", async () => {
      const { ledger, w1 } = scene();
      expect(await publish(ledger, ["a", "b", "c"])).toBe(3);
      expect(
        await ledger.add([
          { id: "b", data: { of: "another" } },
          { id: "d", data: { of: "d" } },
        ]),
      ).toBe(1);
      expect(await publish(ledger, ["a", "b", "c"])).toBe(0);
      expect(await w1.lease()).toEqual(["a", "b", "c", "d"].map((id) => ({ id, generation: 0, data: { of: id } })));
      expect((await ledger.depth()).total).toBe(4);
    });

    it("adds an id once when it comes twice in one list", async () => {
      const { ledger } = scene();
      expect(
        await ledger.add([
          { id: "a", data: { n: 1 } },
          { id: "a", data: { n: 2 } },
        ]),
      ).toBe(1);
      expect((await ledger.depth()).total).toBe(1);
    });

    it("adds a settled id no second time", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["a"]);
      await w1.settle(await w1.take(), result(1));
      expect(await publish(ledger, ["a"])).toBe(0);
      expect(await w1.lease()).toEqual([]);
    });

    it("keeps ids and data of any kind", async () => {
      const { ledger, w1 } = scene();
      const ids = [
        "__proto__",
        "x'; DROP TABLE outlast_items; --",
        'quo"te',
        "ünï/☃/😀",
        "  ",
        "7",
        "07",
        "a".repeat(1_000),
        "\\n\n\t",
        "[1,2]",
        "null",
      ];
      const data = {
        deep: [{ n: null, t: true, f: 1.5e-7, big: "é".repeat(5_000) }],
        "": "",
        __proto__x: { ok: "yes" },
      };
      await ledger.add(ids.map((id) => ({ id, data })));
      const items = await w1.take(100);
      expect(new Set(idsOf(items))).toEqual(new Set(ids));
      expect(items.every((item) => JSON.stringify(item.data) === JSON.stringify(data))).toBe(true);
      const outcomes = await w1.settle(items, result(data));
      expect(outcomes.every((outcome) => outcome.kind === "accepted")).toBe(true);
      const stored: string[] = [];
      for await (const row of ledger.results()) stored.push(row.id);
      expect(new Set(stored)).toEqual(new Set(ids));
      await expect(ledger.audit()).resolves.toMatchObject({ done: ids.length, missing: [] });
    });

    it("takes thousands at once and gives them in the order of publishing", async () => {
      const { ledger, w1 } = scene();
      const ids = Array.from({ length: 5_000 }, (_, i) => `item-${(i * 7919) % 5_000}`);
      expect(await ledger.add(ids.map((id) => ({ id, data: {} })))).toBe(5_000);
      expect(idsOf(await w1.lease(1_000))).toEqual(ids.slice(0, 1_000));
    });

    it("pages through what is pending, and marks as sent only that", async () => {
      const { ledger } = scene();
      const ids = Array.from({ length: 25 }, (_, i) => `i${i}`);
      await publish(ledger, ids);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await ledger.pending(after, 10);
        expect(page.items.length).toBeLessThanOrEqual(10);
        seen.push(...idsOf(page.items));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(ids);
      await ledger.markSent(ids.slice(0, 20).map((id) => key(id)));
      expect(idsOf((await ledger.pending(undefined, 100)).items)).toEqual(ids.slice(20));
    });

    it("finds every pending item page by page while the pages are marked as sent", async () => {
      const { ledger } = scene();
      await publish(
        ledger,
        Array.from({ length: 25 }, (_, i) => `i${i}`),
      );
      let sent = 0;
      let after: string | undefined;
      do {
        const page = await ledger.pending(after, 10);
        await ledger.markSent(page.items);
        sent += page.items.length;
        after = page.next;
      } while (after !== undefined);
      expect(sent).toBe(25);
      expect((await ledger.pending(undefined, 100)).items).toEqual([]);
    });

    it("does not mark as sent what was settled, or made pending anew in a later generation", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x", "y"]);
      await w1.start([key("x"), key("y")]);
      await w1.settle([key("x")], result(1));
      await w1.settle([key("y")], permanent("no"));
      await ledger.retry(["y"]);
      await ledger.markSent([key("x"), key("y")]);
      expect((await ledger.pending(undefined, 10)).items).toEqual([{ id: "y", generation: 1, data: { of: "y" } }]);
      expect((await ledger.depth()).done).toBe(1);
    });

    it("starts and settles an item whose message came before it was marked as sent", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x"]);
      await w1.start([key("x")]);
      await ledger.markSent([key("x")]);
      expect(await w1.settleOne(key("x"), result(1))).toMatchObject({ kind: "accepted" });
      await ledger.markSent([key("x")]);
      expect(await ledger.isDrained()).toBe(true);
    });
  });

  describe("drained", () => {
    it("is not drained before the first publication, though there is nothing to do", async () => {
      const { ledger } = scene();
      expect(await ledger.isDrained()).toBe(false);
      await publish(ledger, []);
      expect(await ledger.isDrained()).toBe(true);
    });

    it("is not drained while a publication is open, though everything published so far is done", async () => {
      const { ledger, w1 } = scene();
      await ledger.openPublication("p");
      await ledger.add([{ id: "x", data: {} }]);
      await w1.settle(await w1.take(), result(1));
      expect(await ledger.isDrained()).toBe(false);
      await ledger.add([{ id: "y", data: {} }]);
      await ledger.closePublications("p");
      expect(await ledger.isDrained()).toBe(false);
      await w1.settle(await w1.take(), result(2));
      expect(await ledger.isDrained()).toBe(true);
    });

    it("closes every open publication of a name, and none of another", async () => {
      const { ledger } = scene();
      await ledger.openPublication("p");
      await ledger.openPublication("p");
      await ledger.openPublication("q");
      await ledger.closePublications("p");
      expect((await ledger.depth()).openPublications).toBe(1);
      expect(await ledger.isDrained()).toBe(false);
      await ledger.closePublications("q");
      expect(await ledger.isDrained()).toBe(true);
      await ledger.openPublication("p");
      expect(await ledger.isDrained()).toBe(false);
    });

    it("counts sent items that are not settled, and items in a worker's hands", async () => {
      const { ledger, w1 } = scene();
      await publish(ledger, ["x"]);
      await ledger.markSent([key("x")]);
      expect(await ledger.isDrained()).toBe(false);
      await w1.start([key("x")]);
      expect(await ledger.isDrained()).toBe(false);
      await w1.settle([key("x")], handBack);
      expect(await ledger.isDrained()).toBe(false);
      await w1.start([key("x")]);
      await w1.settle([key("x")], permanent("no"));
      expect(await ledger.isDrained()).toBe(true);
    });

    it("does not take an old row in the user's table for a result of its own", async () => {
      const { ledger, under, w1 } = scene();
      await under.tamper({ insert: "x" });
      await publish(ledger, ["x"]);
      expect(await ledger.isDrained()).toBe(false);
      expect((await ledger.audit()).missing).toEqual(["x"]);
      await w1.settle(await w1.take(), result("new"));
      expect(await resultsOf(ledger)).toEqual({ x: "new" });
      expect(await ledger.isDrained()).toBe(true);
    });
  });
}
