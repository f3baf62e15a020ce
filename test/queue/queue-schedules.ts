import { describe, expect, it } from "vitest";
import { type Delivery, sendPending } from "../../src/queue/index.ts";
import { expectSound, failure, handBack, key, leaseMs, limits, permanent, result, resultsOf } from "./ledger-world.ts";
import type { QueueScene } from "./queue-suite.ts";
import { publishAll } from "./queue-world.ts";

/** Notes every reply that a worker sends to its broker from now on. */
function noteReplies(worker: QueueScene["w1"]): string[] {
  const replies: string[] = [];
  worker.watch.onAck = (deliveries) => void replies.push(...deliveries.map(({ id }) => `ack ${id}`));
  worker.watch.onNack = (deliveries) => void replies.push(...deliveries.map(({ id }) => `nack ${id}`));
  return replies;
}

/** Lets everything else that waits go first. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Each schedule once broke a simpler text of the rules. */
export function describeSchedules(scene: () => QueueScene): void {
  describe("schedules that broke earlier rules", () => {
    it("1, drained by counts: a publisher that is still adding is waited for", async () => {
      const { parts, w1 } = scene();
      await parts.ledger.openPublication("p");
      await parts.ledger.add([{ id: "x", data: {} }]);
      if (parts.broker) await sendPending(parts.ledger, parts.broker);
      await w1.settle(await w1.take(), result(1));
      expect(await w1.queue.isDrained()).toBe(false);
      // Not sent yet, so counting sent rows would say that all is done.
      await parts.ledger.add([{ id: "y", data: {} }]);
      await parts.ledger.closePublications("p");
      expect(await w1.queue.isDrained()).toBe(false);
      if (parts.broker) await sendPending(parts.ledger, parts.broker);
      await w1.settle(await w1.take(), result(2));
      expect(await w1.queue.isDrained()).toBe(true);
    });

    it("1, drained by counts: never said while some item is unsettled at every moment", async () => {
      const { parts, w1, w2, w3 } = scene();
      await publishAll(parts, ["x", "y"]);
      await w1.settle(await w1.take(1), permanent("no"));
      let isRunning = true;
      let said = 0;
      const ask = async (worker: typeof w2) => {
        for (; isRunning; await turn()) if (await worker.queue.isDrained()) said += 1;
      };
      const asking = Promise.all([ask(w2), ask(w3), ask(w2)]);
      // One of the two is dead, the other waits; the dead one is revived before the other is buried.
      for (let i = 0; i < 36; i += 1) {
        const [dead] = await parts.ledger.dead(undefined, 2);
        // Now fast, now slow, so that the askers fall into no step with it.
        for (let turns = i % 6; turns >= 0; turns -= 1) await turn();
        expect(await parts.ledger.retry(undefined)).toBe(1);
        if (parts.broker) await sendPending(parts.ledger, parts.broker);
        const both = await w1.take(2);
        expect(both).toHaveLength(2);
        await turn();
        await w1.settle(
          both.filter(({ id }) => id === dead?.id),
          handBack,
        );
        await w1.settle(
          both.filter(({ id }) => id !== dead?.id),
          permanent("no"),
        );
      }
      isRunning = false;
      await asking;
      expect(said).toBe(0);
    });

    it("2, result and dead letter: a failure that comes after a result changes nothing", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const first = await w1.take();
      await under.advance(leaseMs + 1);
      const second = await w2.take();
      expect(await w1.settle(first, result("stands"))).toMatchObject([{ kind: "accepted" }]);
      expect(await w2.settle(second, permanent("too late"))).toEqual([{ kind: "refused" }]);
      expect(await resultsOf(parts.ledger)).toEqual({ x: "stands" });
      await expectSound(parts.ledger, { done: 1 });
    });

    it("3, lost by an ack: after a refusal neither ack nor nack", async () => {
      const { parts, under, w1, w2, w3 } = scene();
      await publishAll(parts, ["x"]);
      const first = await w1.take();
      await under.advance(leaseMs + 1);
      await w2.take();
      const replies = noteReplies(w1);
      expect(await w1.settle(first, failure("stale"))).toEqual([{ kind: "refused" }]);
      expect(await w1.settle(first, permanent("stale"))).toEqual([{ kind: "refused" }]);
      expect(await w1.settle(first, handBack)).toEqual([{ kind: "refused" }]);
      expect(replies).toEqual([]);
      // W2 dies; the item is still there.
      await under.advance(leaseMs + 1);
      expect(await w3.settle(await w3.take(), result(3))).toMatchObject([{ kind: "accepted" }]);
      await expectSound(parts.ledger, { done: 1 });
    });

    it("4, lost by a retry: one killed before its send is made good by the next", async () => {
      const { parts, w1 } = scene();
      await publishAll(parts, ["x"]);
      await w1.settle(await w1.take(), permanent("no"));
      expect(await parts.ledger.retry(undefined)).toBe(1);
      // Killed here. Whoever publishes or retries next sends what is pending.
      if (parts.broker) expect(await sendPending(parts.ledger, parts.broker)).toBe(1);
      expect(await w1.settle(await w1.take(), result(1))).toMatchObject([{ kind: "accepted" }]);
      await expectSound(parts.ledger, { done: 1 });
    });

    it("4, lost by a retry: the message of the old life does not take the new one's with it", async () => {
      const { parts, under, w1, w2, w3 } = scene();
      await publishAll(parts, ["x"]);
      const old = await w1.take();
      await under.advance(leaseMs + 1);
      await w2.settle(await w2.take(), permanent("no"));
      await parts.ledger.retry(undefined);
      if (parts.broker) await sendPending(parts.ledger, parts.broker);
      // W1 wakes with a delivery of generation 0: its word on it is refused, its start finds it settled and acks it.
      expect(await w1.settle(old, failure("old life"))).toEqual([{ kind: "refused" }]);
      expect(await w1.start(old)).toMatchObject([{ kind: "settled" }]);
      const taken = await w3.take();
      expect(taken).toMatchObject([{ id: "x", generation: 1 }]);
      await w3.settle(taken, result(1));
      await expectSound(parts.ledger, { done: 1 });
    });

    it("4, lost by a retry: a message still under a lease does not swallow the new one", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      // Dead in the ledger; the message of generation 0 stays leased because its ack was lost.
      const taken = await w1.take();
      w1.watch.onAck = () => {
        throw new Error("the ack is lost");
      };
      await w1.settle(taken, permanent("no")).catch(() => undefined);
      await parts.ledger.retry(undefined);
      if (parts.broker) await sendPending(parts.ledger, parts.broker);
      delete w1.watch.onAck;
      await w1.settle(taken, permanent("no"));
      await under.advance(1);
      const again = (await w2.pull()).filter(({ generation }) => generation === 1);
      expect(again).toMatchObject([{ id: "x" }]);
      expect(await w2.start(again)).toMatchObject([{ kind: "started", failures: 0 }]);
      await w2.settle(again, result(1));
      await expectSound(parts.ledger, { done: 1 });
    });

    it("4, lost by a retry: a slow publisher does not mark as sent what the retry made pending", async () => {
      const { parts, w1, w2 } = scene();
      await parts.ledger.openPublication("p");
      await parts.ledger.add([{ id: "x", data: {} }]);
      const page = await parts.ledger.pending(undefined, 10);
      await parts.broker?.send(page.items);
      await w1.settle(await w1.take(), permanent("no"));
      await parts.ledger.retry(undefined);
      await parts.ledger.markSent(page.items);
      await parts.ledger.closePublications("p");
      expect((await parts.ledger.pending(undefined, 10)).items).toMatchObject([{ id: "x", generation: 1 }]);
      if (parts.broker) await sendPending(parts.ledger, parts.broker);
      await w2.settle(await w2.take(), result(1));
      await expectSound(parts.ledger, { done: 1 });
    });

    it("5, innocents die with the poison: only started items are charged, and suspects start alone", async () => {
      const { parts, under, w1 } = scene();
      await publishAll(parts, ["a", "poison", "b", "c", "d", "e"]);
      // Two in a chunk, the next two prefetched. Whatever runs beside the poison is lost with its worker.
      for (let i = 0; i < 60 && !(await w1.queue.isDrained()); i += 1) {
        const running = await w1.take(2);
        await w1.pull(2);
        if (running.every(({ id }) => id !== "poison")) await w1.settle(running, result(1));
        await under.advance(leaseMs + 1);
      }
      expect(await parts.ledger.dead(undefined, 9)).toMatchObject([{ id: "poison", failures: 0 }]);
      await expectSound(parts.ledger, { done: 5, dead: 1 });
      const depth = await parts.ledger.depth();
      // Twice in company, so many times alone; one neighbour was beside it each of those two times.
      expect(depth.interruptions).toBeLessThanOrEqual(2 + limits.lonelyInterruptions + 2);
    });

    it("6, false interruption: a second delivery beside a running claim is handed back, uncharged", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const first = await w1.take();
      // The broker forgets the lease while the claim is kept: the same as a second message.
      await under.advance(leaseMs - 1_000);
      await w1.ledger.renew(
        first.map(({ id, generation }) => ({ id, generation })),
        leaseMs,
        "w1",
      );
      await under.advance(1_001);
      const second: readonly Delivery[] = parts.broker ? await w2.pull() : first;
      expect(second).toHaveLength(1);
      const outcomes = await w2.start(second);
      expect(outcomes).toMatchObject([{ kind: "handed-back" }]);
      expect(outcomes[0] && "delayMs" in outcomes[0] && outcomes[0].delayMs).toBeGreaterThan(0);
      expect(await w1.settle(first, result(1))).toMatchObject([{ kind: "accepted" }]);
      expect(await parts.ledger.depth()).toMatchObject({ interruptions: 0, done: 1 });
    });

    it("7, hand-back charged: it is recorded before the broker hears of it", async () => {
      const { parts, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const first = await w1.take();
      let kind: string | undefined;
      // The moment the broker hears it, W2 starts the item.
      w1.watch.onNack = async () => {
        const [outcome] = await w2.ledger.start([key("x")], { holder: "w2", leaseMs, isIdle: true, limits });
        kind ??= outcome?.kind;
      };
      await w1.settle(first, handBack);
      if (!parts.broker) kind = (await w2.start(await w2.pull()))[0]?.kind;
      expect(kind).toBe("started");
      expect(await parts.ledger.depth()).toMatchObject({ interruptions: 0 });
    });

    it("8, double attempt: a settlement whose reply was lost is the same when it is repeated", async () => {
      const { parts, under, w1 } = scene();
      await publishAll(parts, ["r", "f", "h"]);
      const taken = await w1.take();
      const endings = { r: result("once"), f: failure("oh", 500), h: handBack };
      for (const [id, ending] of Object.entries(endings)) {
        const mine = taken.filter((delivery) => delivery.id === id);
        let isLost = true;
        const lose = () => {
          if (!isLost) return;
          isLost = false;
          throw new Error("the reply is lost");
        };
        w1.watch.onAck = lose;
        w1.watch.onNack = lose;
        if (parts.broker) await expect(w1.settle(mine, ending)).rejects.toThrow("lost");
        else await w1.settle(mine, ending);
        expect(await w1.settle(mine, ending)).toMatchObject([{ kind: "repeated" }]);
      }
      await under.advance(501);
      const again = await w1.pull();
      const outcomes = await w1.start(again);
      const failures = Object.fromEntries(again.map(({ id }, i) => [id, outcomes[i]]));
      expect(failures).toMatchObject({ f: { kind: "started", failures: 1 }, h: { kind: "started", failures: 0 } });
      expect(Object.keys(failures).toSorted()).toEqual(["f", "h"]);
      expect(await parts.ledger.audit()).toMatchObject({ done: 1, duplicates: [], late: 0 });
    });

    it("8, false duplicate: a woken worker's result is late, acked and counted, not a duplicate", async () => {
      const { parts, under, w1, w2 } = scene();
      await publishAll(parts, ["x"]);
      const first = await w1.take();
      await under.advance(leaseMs + 1);
      await w2.settle(await w2.take(), result("w2"));
      const replies = noteReplies(w1);
      expect(await w1.settle(first, result("w1"))).toEqual([{ kind: "late" }]);
      expect(replies).toEqual(parts.broker ? ["ack x"] : []);
      expect(await resultsOf(parts.ledger)).toEqual({ x: "w2" });
      expect(await parts.ledger.audit()).toMatchObject({ duplicates: [], late: 1, done: 1 });
    });
  });
}
