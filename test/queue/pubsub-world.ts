import type { Broker, Delivery } from "../../src/queue/index.ts";
import { openPubSubBroker } from "../../src/queue/pubsub/index.ts";
import { type Ledger, openLedger, type PubSubAddress, parseQueueUrl } from "../../src/results/index.ts";
import type { PostgresServer } from "../servers/postgres.ts";
import type { PubSubServer } from "../servers/pubsub.ts";
import type { BrokerUnderTest } from "./broker-suite.ts";
import { newDatabase, passTime } from "./postgres-world.ts";
import type { QueueUnderTest } from "./queue-world.ts";
import { DatabaseClock, temporaryFolder } from "./sqlite-world.ts";

let subscriptions = 0;

/** A topic and subscription that no other test uses. */
export function newAddress(): PubSubAddress {
  subscriptions += 1;
  const address = parseQueueUrl(
    `pubsub://test-project/sub-${process.pid}-${subscriptions}?topic=topic-${process.pid}-${subscriptions}`,
  );
  if (address.kind !== "pubsub") throw new Error("not Pub/Sub");
  return address;
}

/** Long enough for what was just handed back to be there again; the emulator takes a few milliseconds. */
const shortestWaitMs = 120;
const forEverMs = 600_000;

/**
 * The emulator's leases with a time that tests set by hand: messages are held for ten real minutes, and those whose time is over are
 * handed back when a test lets time pass, which to the other side is the same as a lease that ran out.
 */
class HeldMessages {
  #now = 0;
  readonly #held = new Map<string, { delivery: Delivery; due: number }>();

  hold(deliveries: readonly Delivery[], ms: number): void {
    for (const delivery of deliveries) this.#held.set(delivery.receipt, { delivery, due: this.#now + ms });
  }

  forget(deliveries: readonly Delivery[]): void {
    for (const { receipt } of deliveries) this.#held.delete(receipt);
  }

  async advance(ms: number, broker: Broker): Promise<void> {
    this.#now += ms;
    const due = [...this.#held.values()].filter((held) => held.due <= this.#now).map(({ delivery }) => delivery);
    this.forget(due);
    if (due.length > 0) await broker.nack(due, 0);
  }

  watch(broker: Broker): Broker {
    return {
      url: broker.url,
      prepare: () => broker.prepare(),
      plan: () => broker.plan(),
      send: (items) => broker.send(items),
      pull: async (max, { waitMs, leaseMs, signal }) => {
        const found = await broker.pull(max, { waitMs: Math.max(waitMs, shortestWaitMs), leaseMs: forEverMs, signal });
        this.hold(found, leaseMs);
        return found;
      },
      extend: async (deliveries, ms) => {
        await broker.extend(deliveries, forEverMs);
        this.hold(deliveries, ms);
      },
      ack: async (deliveries) => {
        await broker.ack(deliveries);
        this.forget(deliveries);
      },
      nack: async (deliveries, delayMs) => {
        await broker.nack(deliveries, delayMs > 0 ? forEverMs : 0);
        if (delayMs > 0) this.hold(deliveries, delayMs);
        else this.forget(deliveries);
      },
      close: () => broker.close(),
    };
  }
}

/** A subscription of its own on the emulator. */
export async function openPubSubBrokers(server: PubSubServer): Promise<BrokerUnderTest> {
  const address = newAddress();
  const held = new HeldMessages();
  const own = openPubSubBroker(address, { emulator: server.host });
  return {
    broker: held.watch(own),
    openAgain: async () => held.watch(openPubSubBroker(address, { emulator: server.host })),
    advance: (ms) => held.advance(ms, own),
    leaseMs: 30_000,
    canDelay: true,
    // Google promises nothing about late receipts.
    isFenced: false,
    dispose: () => own.close(),
  };
}

/** Pub/Sub, with results in SQLite or in Postgres. */
export async function openPubSubQueue(
  server: PubSubServer,
  postgres: PostgresServer | undefined,
): Promise<QueueUnderTest> {
  const address = newAddress();
  const held = new HeldMessages();
  const own = openPubSubBroker(address, { emulator: server.host });
  const results = postgres ? await postgresResults(postgres) : await sqliteResults();
  return {
    parts: async () => ({
      ledger: await results.open(),
      broker: held.watch(openPubSubBroker(address, { emulator: server.host })),
    }),
    advance: async (ms) => {
      await results.advance(ms);
      await held.advance(ms, own);
    },
    dispose: async () => {
      await own.close();
      await results.dispose();
    },
  };
}

interface Results {
  readonly open: () => Promise<Ledger>;
  readonly advance: (ms: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

async function sqliteResults(): Promise<Results> {
  const folder = await temporaryFolder();
  const clock = new DatabaseClock();
  return {
    open: () => openLedger(`sqlite:${folder.path}/results.db`, { now: clock.now }),
    advance: async (ms) => clock.advance(ms),
    dispose: folder.dispose,
  };
}

async function postgresResults(server: PostgresServer): Promise<Results> {
  const { name, url, dispose } = await newDatabase(server);
  return { open: () => openLedger(url), advance: (ms) => passTime(server, name, ms), dispose };
}
