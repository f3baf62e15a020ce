import { describe, expect, it } from "vitest";
import {
  expectSound,
  failure,
  handBack,
  idsOf,
  leaseMs,
  limits,
  permanent,
  result,
  resultsOf,
} from "./ledger-world.ts";
import type { QueueScene } from "./queue-suite.ts";
import { publishAll } from "./queue-world.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `i${i}`);

/** What an eviction, a kill and a failure do to items. */
export function describeEvictions(scene: () => QueueScene): void {
  describe("evictions", () => {
    it("works through everything, one result each", async () => {
      const { parts, w1, w2 } = scene();
      await publishAll(parts, numbered(23));
      for (let idle = 0; idle < 2; ) {
        idle = 0;
        for (const worker of [w1, w2]) {
          const taken = await worker.take(4);
          if (taken.length === 0) idle += 1;
          await worker.settle(taken, result(worker.holder));
        }
      }
      await expectSound(parts.ledger, { done: 23 });
      expect(Object.keys(await resultsOf(parts.ledger))).toHaveLength(23);
    });

    it("has nothing claimable twice and nothing drained when a pull comes back empty", async () => {
      const { parts, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const taken = await w1.take();
      expect(await w2.pull()).toEqual([]);
      expect(await w2.queue.isDrained()).toBe(false);
      await w1.settle(taken, result(1));
      expect(await w2.queue.isDrained()).toBe(true);
    });

    it("gives what a polite worker hands back and releases to another at once, attempts unchanged", async () => {
      const { parts, w1, w2 } = scene();
      await publishAll(parts, numbered(6));
      const started = await w1.take(3);
      const prefetched = await w1.pull(3);
      expect([...started, ...prefetched]).toHaveLength(6);
      await w1.settle(started, handBack);
      await w1.queue.release(prefetched);
      const again = await w2.pull(10);
      expect(idsOf(again).toSorted()).toEqual(numbered(6));
      for (const outcome of await w2.start(again)) expect(outcome).toMatchObject({ kind: "started", failures: 0 });
      expect(await w2.queue.depth()).toMatchObject({ leased: 6, ready: 0, interruptions: 0 });
    });

    it("gives what a killed worker held to another after the lease, and not before", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, numbered(4));
      await w1.take(2);
      await w1.pull(2);
      await under.advance(leaseMs - 1_000);
      expect(await w2.pull()).toEqual([]);
      await under.advance(1_001);
      const taken = await w2.take();
      expect(taken).toHaveLength(4);
      await w2.settle(taken, result(1));
      expect(await w2.queue.depth()).toMatchObject({ done: 4, interruptions: 2 });
      await expectSound(parts.ledger, { done: 4 });
    });

    it("keeps what is renewed, started or waiting", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, numbered(4));
      const started = await w1.take(2);
      const waiting = await w1.pull(2);
      for (let i = 0; i < 4; i += 1) {
        await under.advance(leaseMs / 2);
        expect(await w1.queue.renew([...started, ...waiting])).toEqual([]);
        expect(await w2.pull()).toEqual([]);
      }
      for (const outcome of await w1.start(waiting, false)) expect(outcome.kind).toBe("started");
      await w1.settle([...started, ...waiting], result(1));
      expect(await w1.queue.depth()).toMatchObject({ done: 4, interruptions: 0, late: 0 });
    });

    it("says which items were lost when a renewal comes too late", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x", "y"]);
      const mine = await w1.take();
      await under.advance(leaseMs + 1);
      await w2.take(1);
      expect(idsOf(await w1.queue.renew(mine))).toHaveLength(1);
    });

    it("acks what a worker stored and died before acking, and runs it no second time", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const taken = await w1.take();
      w1.watch.onAck = () => {
        throw new Error("killed between the result and the ack");
      };
      await w1.settle(taken, result("once")).catch(() => undefined);
      await under.advance(leaseMs + 1);
      const again = await w2.pull();
      for (const outcome of await w2.start(again)) expect(outcome.kind).toBe("settled");
      await under.advance(leaseMs + 1);
      expect(await w2.pull()).toEqual([]);
      expect(await resultsOf(parts.ledger)).toEqual({ x: "once" });
      await expectSound(parts.ledger, { done: 1 });
    });

    it("buries poison after so many failures of its handler, with its last error, and goes on", async () => {
      const { parts, under, w1 } = scene();
      await publishAll(parts, ["x", "y"]);
      for (let i = 1; i <= limits.attempts; i += 1) {
        const taken = await w1.take();
        await w1.settle(
          taken.filter(({ id }) => id === "y"),
          result(1),
        );
        const [outcome] = await w1.settle(
          taken.filter(({ id }) => id === "x"),
          failure(`failure ${i}`, 1_000),
        );
        expect(outcome).toMatchObject(i < limits.attempts ? { kind: "accepted", delayMs: 1_000 } : { isDead: true });
        expect(await w1.pull()).toEqual([]);
        await under.advance(1_001);
      }
      expect(await parts.ledger.dead(undefined, 9)).toMatchObject([{ id: "x", error: `failure ${limits.attempts}` }]);
      await under.advance(leaseMs + 1);
      expect(await w1.take()).toEqual([]);
      await expectSound(parts.ledger, { done: 1, dead: 1 });
    });

    it("buries nothing for evictions, however many", async () => {
      const { parts, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      for (let i = 0; i < 25; i += 1) {
        const worker = i % 2 ? w1 : w2;
        expect(await worker.settle(await worker.take(), handBack)).toMatchObject([{ kind: "accepted" }]);
      }
      const taken = await w1.take();
      expect(await w1.settle(taken, result(1))).toMatchObject([{ kind: "accepted" }]);
      expect(await w1.queue.depth()).toMatchObject({ interruptions: 0, dead: 0, done: 1 });
    });

    it("changes nothing that was settled meanwhile when a frozen worker wakes up", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["done", "dead"]);
      const frozen = await w1.take();
      await under.advance(leaseMs + 1);
      const taken = await w2.take();
      await w2.settle(
        taken.filter(({ id }) => id === "done"),
        result("w2"),
      );
      await w2.settle(
        taken.filter(({ id }) => id === "dead"),
        permanent("w2"),
      );
      const waking = await w1.settle(frozen, failure("w1"));
      expect(waking).toEqual([{ kind: "refused" }, { kind: "refused" }]);
      await w1.settle(frozen, handBack);
      expect(await resultsOf(parts.ledger)).toEqual({ done: "w2" });
      expect(await parts.ledger.dead(undefined, 9)).toMatchObject([{ id: "dead", error: "w2", failures: 1 }]);
      await expectSound(parts.ledger, { done: 1, dead: 1 });
    });
  });
}
