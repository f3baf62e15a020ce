import { describe, expect, it } from "vitest";
import type { LedgerUnderTest, OpenLedger } from "./ledger-world.ts";
import { key, LedgerWorker, publish, result, resultsOf } from "./ledger-world.ts";

async function withLedger(
  open: OpenLedger,
  query: string,
  act: (under: LedgerUnderTest) => Promise<void>,
): Promise<void> {
  const under = await open(query);
  try {
    await act(under);
  } finally {
    await under.dispose();
  }
}

/** The user's table. */
export function describeTables(open: OpenLedger): void {
  describe("the user's table", () => {
    it("is made with the names it was given, whatever they are", async () => {
      const name = encodeURIComponent(`r"; DROP TABLE outlast_items; --`);
      await withLedger(
        open,
        `table=${name}&id=${encodeURIComponent("the id")}&result=${encodeURIComponent("select")}`,
        async ({ ledger }) => {
          expect((await ledger.plan()).length).toBeGreaterThan(0);
          await ledger.prepare();
          await ledger.prepare();
          expect(await ledger.plan()).toEqual([]);
          const worker = new LedgerWorker(ledger, "w");
          await publish(ledger, ["x"]);
          await worker.settle(await worker.take(), result({ ok: true }));
          expect(await resultsOf(ledger)).toEqual({ x: { ok: true } });
          expect(await ledger.audit()).toMatchObject({ done: 1, missing: [] });
        },
      );
    });

    it("takes fields of the result into columns", async () => {
      await withLedger(open, "table=labels&id=image&columns=label,score,extra", async ({ ledger }) => {
        await ledger.prepare();
        const worker = new LedgerWorker(ledger, "w");
        await publish(ledger, ["x", "y"]);
        const items = await worker.take();
        await worker.settle([key("x")], result({ label: "cat", score: 0.5, extra: { box: [1, 2] }, ignored: 1 }));
        await worker.settle([key("y")], result({ label: null }));
        expect(items).toHaveLength(2);
        const rows = await resultsOf(ledger);
        expect(rows["y"]).toEqual({ label: null, score: null, extra: null });
        const x = rows["x"] as Record<string, unknown>;
        expect(x["label"]).toBe("cat");
        expect(Number(x["score"])).toBe(0.5);
        expect(typeof x["extra"] === "string" ? JSON.parse(x["extra"]) : x["extra"]).toEqual({ box: [1, 2] });
      });
    });

    it("makes a result without those fields a failure of its item alone", async () => {
      await withLedger(open, "table=labels&columns=label", async ({ ledger }) => {
        await ledger.prepare();
        const worker = new LedgerWorker(ledger, "w");
        await publish(ledger, ["x", "y", "z"]);
        await worker.take();
        const settlements = ["x", "y", "z"].map((id) => ({
          ...key(id),
          claim: worker.claims.get(id) ?? "",
          ending: result(id === "y" ? "just text" : { label: id }),
        }));
        const outcomes = await ledger.settle(settlements, {
          holder: "w",
          limits: { attempts: 3, suspectAfter: 2, lonelyInterruptions: 3 },
        });
        expect(outcomes).toMatchObject([
          { kind: "accepted" },
          { kind: "accepted", isDead: true },
          { kind: "accepted" },
        ]);
        expect(await ledger.dead(undefined, 9)).toMatchObject([{ id: "y", error: expect.stringMatching(/label/) }]);
        expect(Object.keys(await resultsOf(ledger))).toEqual(["x", "z"]);
      });
    });

    it("lists results in order of id", async () => {
      await withLedger(open, "", async ({ ledger }) => {
        await ledger.prepare();
        const worker = new LedgerWorker(ledger, "w");
        await publish(ledger, ["b", "c", "a"]);
        await worker.settle(await worker.take(), result(1));
        expect(Object.keys(await resultsOf(ledger))).toEqual(["a", "b", "c"]);
      });
    });
  });
}
