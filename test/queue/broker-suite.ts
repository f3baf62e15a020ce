import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Broker, Delivery } from "../../src/queue/index.ts";

/** A broker under test, its time, and how to be rid of it. */
export interface BrokerUnderTest {
  readonly broker: Broker;
  /** Opens the same messages once more, as another process would. */
  readonly openAgain: () => Promise<Broker>;
  /** Time passes for the broker: a real wait where it cannot be told otherwise. */
  readonly advance: (ms: number) => Promise<void>;
  /** The shortest lease it gives. */
  readonly leaseMs: number;
  /** Whether it keeps a nacked message back for as long as it is asked to. */
  readonly canDelay: boolean;
  /** Whether an ack or nack with the receipt of an earlier delivery leaves a later one alone. */
  readonly isFenced: boolean;
  readonly dispose: () => Promise<void>;
}

const item = (id: string, generation = 0) => ({ id, generation, data: { of: id } });
const idsOf = (deliveries: readonly Delivery[]) => deliveries.map((delivery) => delivery.id);

/** Pulls until `count` have come; a pull that returns few says nothing. */
async function pullAll(broker: Broker, count: number, leaseMs: number): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let i = 0; found.length < count && i < 100; i += 1) {
    found.push(...(await broker.pull(Math.min(10, count - found.length), { waitMs: 2_000, leaseMs })));
  }
  return found;
}

/** The contract of `Broker`: at least once, leases, acks that hold. */
export function describeBroker(name: string, open: () => Promise<BrokerUnderTest>): void {
  describe(`broker contract: ${name}`, () => {
    let under: BrokerUnderTest;
    let broker: Broker;
    let other: Broker;
    let leaseMs: number;
    beforeEach(async () => {
      under = await open();
      ({ broker, leaseMs } = under);
      await broker.prepare();
      other = await under.openAgain();
    });
    afterEach(async () => {
      await other.close();
      await under.dispose();
    });
    const pull = (from: Broker, max = 10) => from.pull(max, { waitMs: 2_000, leaseMs });
    const pullNothing = async (from: Broker) => {
      expect(await from.pull(10, { waitMs: 100, leaseMs })).toEqual([]);
    };

    it("delivers what was sent, with its generation and data", async () => {
      await broker.send([item("a"), item("b", 3)]);
      const found = await pullAll(other, 2, leaseMs);
      expect(found.map(({ id, generation, data }) => ({ id, generation, data }))).toEqual(
        expect.arrayContaining([item("a"), item("b", 3)]),
      );
    });

    it("never delivers more than asked, nor to a second worker while the lease runs", async () => {
      await broker.send(Array.from({ length: 12 }, (_, i) => item(`i${i}`)));
      const first = await pull(broker, 5);
      expect(first.length).toBeGreaterThan(0);
      expect(first.length).toBeLessThanOrEqual(5);
      const rest = await pullAll(other, 12 - first.length, leaseMs);
      expect(new Set([...idsOf(first), ...idsOf(rest)]).size).toBe(12);
      await pullNothing(broker);
    });

    it("comes back with nothing when there is nothing, or when told to stop", { timeout: 120_000 }, async () => {
      await pullNothing(broker);
      const stop = new AbortController();
      const pulling = broker.pull(10, { waitMs: 20_000, leaseMs, signal: stop.signal });
      stop.abort();
      expect(await pulling).toEqual([]);
      await broker.send([item("a")]);
      // A server that has not heard yet of the pull's end may hand the message to it: it then comes when that lease is over.
      expect(idsOf(await pullAll(broker, 1, leaseMs))).toEqual(["a"]);
    });

    it("delivers nothing again that was acked", async () => {
      await broker.send([item("a"), item("b")]);
      const found = await pullAll(broker, 2, leaseMs);
      await broker.ack(found.filter(({ id }) => id === "a"));
      await broker.ack(found.filter(({ id }) => id === "a"));
      await under.advance(leaseMs + 500);
      expect(idsOf(await pullAll(other, 1, leaseMs))).toEqual(["b"]);
      await pullNothing(other);
    });

    it("delivers again at once what was nacked", async () => {
      await broker.send([item("a")]);
      await broker.nack(await pull(broker), 0);
      expect(idsOf(await pull(other))).toEqual(["a"]);
    });

    it("delivers again what was nacked with a delay, after it where it can", async () => {
      await broker.send([item("a")]);
      await broker.nack(await pull(broker), 3_000);
      if (under.canDelay) await pullNothing(other);
      await under.advance(3_001);
      expect(idsOf(await pull(other))).toEqual(["a"]);
    });

    it("delivers again what was neither acked nor nacked, when the lease ran out", async () => {
      await broker.send([item("a")]);
      await pull(broker);
      await under.advance(leaseMs + 500);
      expect(idsOf(await pull(other))).toEqual(["a"]);
    });

    it("keeps a delivery that is extended", async () => {
      await broker.send([item("a")]);
      const found = await pull(broker);
      await under.advance(leaseMs - 2_000);
      await broker.extend(found, leaseMs);
      await under.advance(leaseMs - 2_000);
      await pullNothing(other);
      await broker.ack(found);
    });

    it("lets a receipt of an earlier delivery do no harm to a later one", async () => {
      if (!under.isFenced) return;
      await broker.send([item("a")]);
      const old = await pull(broker);
      await under.advance(leaseMs + 500);
      const current = await pull(other);
      expect(idsOf(current)).toEqual(["a"]);
      await broker.ack(old);
      await broker.nack(old, 0);
      await pullNothing(broker);
      await under.advance(leaseMs + 500);
      const third = await pull(other);
      expect(idsOf(third)).toEqual(["a"]);
      await other.ack(third);
    });

    it("delivers a later generation while the earlier one is still in a worker's hands", async () => {
      await broker.send([item("a", 0)]);
      const old = await pull(broker);
      await broker.send([item("a", 1)]);
      const found = await pull(other);
      expect(found).toMatchObject([{ id: "a", generation: 1 }]);
      await broker.ack(old);
      await under.advance(leaseMs + 500);
      expect(await pull(other)).toMatchObject([{ id: "a", generation: 1 }]);
    });

    it("takes a message that is sent twice, and delivers it at least once", async () => {
      await broker.send([item("a")]);
      await broker.send([item("a")]);
      expect(idsOf(await pull(other, 1))).toEqual(["a"]);
    });

    it("keeps ids and data of any kind, and thousands of them", async () => {
      const ids = ["__proto__", "x'; DROP TABLE outlast_messages; --", "ünï/☃/😀", "a".repeat(500), "\\n\n\t"];
      const data = { deep: [{ n: null, t: true, f: 1.5e-7 }], big: "é".repeat(50_000) };
      await broker.send(ids.map((id) => ({ id, generation: 0, data })));
      const found = await pullAll(other, ids.length, leaseMs);
      expect(new Set(idsOf(found))).toEqual(new Set(ids));
      for (const delivery of found) expect(delivery.data).toEqual(data);
      await other.ack(found);
      await broker.send(Array.from({ length: 2_500 }, (_, i) => item(`many-${i}`)));
      const many = new Set<string>();
      for (let i = 0; many.size < 2_500 && i < 500; i += 1) {
        const some = await broker.pull(100, { waitMs: 2_000, leaseMs });
        for (const { id } of some) many.add(id);
        await broker.ack(some);
      }
      expect(many.size).toBe(2_500);
    });

    it("forgets every message, where it can, and takes new ones", async () => {
      if (!broker.purge) return;
      await broker.send(Array.from({ length: 1_200 }, (_, i) => item(`i${i}`)));
      await pull(other);
      await broker.purge();
      await under.advance(leaseMs + 500);
      await pullNothing(other);
      await broker.send([item("i0")]);
      expect(idsOf(await pull(other))).toEqual(["i0"]);
    });

    it("needs nothing more once it is prepared", async () => {
      await broker.prepare();
      await broker.send([item("a")]);
      await broker.prepare();
      expect(idsOf(await pull(broker))).toEqual(["a"]);
    });
  });
}
