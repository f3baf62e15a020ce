import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ErrorCode, OutlastError } from "../../src/core/index.ts";
import { type Broker, SplitQueue, sendPending } from "../../src/queue/index.ts";
import { openPubSubBroker, type PubSubBrokerOptions } from "../../src/queue/pubsub/index.ts";
import { openClients } from "../../src/queue/pubsub/pubsub-clients.ts";
import { openLedger, type PubSubAddress } from "../../src/results/index.ts";
import { hasPubSub, type PubSubServer, startPubSub } from "../servers/pubsub.ts";
import { expectSound, limits, result } from "./ledger-world.ts";
import { newAddress } from "./pubsub-world.ts";
import { QueueWorker, publishAll } from "./queue-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

const item = (id: string, data = {}) => ({ id, generation: 0, data });

describe.skipIf(!hasPubSub())("Pub/Sub as a queue", () => {
  let server: PubSubServer;
  const opened: Broker[] = [];
  beforeAll(async () => {
    server = await startPubSub();
  });
  afterEach(async () => {
    for (const broker of opened.splice(0)) await broker.close();
  });
  afterAll(() => server?.stop());

  const open = (address: PubSubAddress, options: PubSubBrokerOptions = {}): Broker => {
    const broker = openPubSubBroker(address, { emulator: server.host, attempts: 1, ...options });
    opened.push(broker);
    return broker;
  };
  const expectRefusal = async (act: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<OutlastError> => {
    const error = await act.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof OutlastError)) throw new Error(`not refused: ${String(error)}`);
    expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringMatching(message) });
    expect(error.hint).toBeTruthy();
    return error;
  };
  const names = ({ project, topic, subscription }: PubSubAddress) => ({
    topic: `projects/${project}/topics/${topic}`,
    name: `projects/${project}/subscriptions/${subscription}`,
  });

  describe("checks a subscription that is there", () => {
    const other = "projects/test-project/topics/another";
    const cases = [
      [
        "with a dead-letter policy",
        { deadLetterPolicy: { deadLetterTopic: other, maxDeliveryAttempts: 5 } },
        /dead-letter policy/,
      ],
      ["that listens to another topic", { topic: other }, /listens to .*another/],
      ["that pushes", { pushConfig: { pushEndpoint: "https://example.test/push" } }, /pushes/],
      ["that keeps an order", { enableMessageOrdering: true }, /in order/],
      ["with a filter", { filter: 'attributes.id = "a"' }, /filter/],
      ["that forgets soon", { messageRetentionDuration: { seconds: 600 } }, /forgets messages after 600 s/],
      ["that expires", { expirationPolicy: { ttl: { seconds: 86_400 * 31 } } }, /is deleted/],
    ] as const;
    it.each(cases)("and refuses one %s", async (_, change, message) => {
      const address = newAddress();
      const { publisher, subscriber } = await openClients(address.project, server.host);
      for (const name of [names(address).topic, other]) await publisher.createTopic({ name }).catch(() => undefined);
      await subscriber.createSubscription({ ...names(address), ackDeadlineSeconds: 30, ...change });
      await expectRefusal(open(address).prepare(), "OUTLAST_QUEUE_UNSUITABLE", message);
      await publisher.close();
      await subscriber.close();
    });
  });

  it("makes a subscription that keeps what it is given, with commands that say the same", async () => {
    const address = newAddress();
    const broker = open(address);
    await broker.prepare();
    const { subscriber, publisher } = await openClients(address.project, server.host);
    const [found] = await subscriber.getSubscription({ subscription: names(address).name });
    expect(found).toMatchObject({ topic: names(address).topic, ackDeadlineSeconds: 30, enableMessageOrdering: false });
    expect(Number(found.messageRetentionDuration?.seconds)).toBe(7 * 86_400);
    expect(found.deadLetterPolicy ?? null).toBeNull();
    expect(await broker.plan()).toEqual([
      `gcloud pubsub topics create ${address.topic} --project=test-project`,
      `gcloud pubsub subscriptions create ${address.subscription} --project=test-project --topic=${address.topic} --ack-deadline=30 --message-retention-duration=7d --expiration-period=never`,
    ]);
    await subscriber.close();
    await publisher.close();
  });

  it("refuses what it cannot carry before anything is sent", async () => {
    const broker = open(newAddress());
    await broker.prepare();
    const huge = item("huge", { bytes: "x".repeat(9_600_000) });
    await expectRefusal(broker.send([item("first"), huge]), "OUTLAST_ITEM_TOO_LARGE", /huge .*bytes/);
    await expectRefusal(
      broker.send([item("first"), item("é".repeat(513))]),
      "OUTLAST_ITEM_TOO_LARGE",
      /id has 1026 bytes/,
    );
    expect(await broker.pull(10, { waitMs: 200, leaseMs: 30_000 })).toEqual([]);
  });

  it("sends in as many requests as it takes", async () => {
    const broker = open(newAddress());
    await broker.prepare();
    const large = "x".repeat(4_000_000);
    await broker.send([...Array.from({ length: 5 }, (_, i) => item(`large-${i}`, { large })), item("small")]);
    const found = new Set<string>();
    for (let i = 0; found.size < 6 && i < 50; i += 1) {
      for (const { id } of await broker.pull(2, { waitMs: 1_000, leaseMs: 60_000 })) found.add(id);
    }
    expect(found.size).toBe(6);
  });

  it("leaves messages alone that are not its own, and says so", async () => {
    const address = newAddress();
    const foreign: string[] = [];
    const broker = open(address, { onForeign: (id) => foreign.push(id) });
    await broker.prepare();
    const { publisher, subscriber } = await openClients(address.project, server.host);
    await publisher.publish({
      topic: names(address).topic,
      messages: [{ data: Buffer.from("hello") }, { data: Buffer.from("[]"), attributes: { id: "a", generation: "0" } }],
    });
    await broker.send([item("ours")]);
    expect((await broker.pull(10, { waitMs: 3_000, leaseMs: 30_000 })).map(({ id }) => id)).toEqual(["ours"]);
    expect(foreign).toHaveLength(2);
    await publisher.close();
    await subscriber.close();
  });

  it("gives a killed worker's items to another when the lease ends, whatever the subscription's own deadline", {
    timeout: 60_000,
  }, async () => {
    const address = newAddress();
    await open(address).prepare();
    await open(address).send([item("short"), item("kept")]);
    const killed = openPubSubBroker(address, { emulator: server.host });
    const held = await killed.pull(10, { waitMs: 2_000, leaseMs: 10_000 });
    expect(held).toHaveLength(2);
    await killed.extend(
      held.filter(({ id }) => id === "kept"),
      60_000,
    );
    const at = performance.now();
    await killed.close();
    const found = await open(address).pull(10, { waitMs: 30_000, leaseMs: 10_000 });
    expect(found.map(({ id }) => id)).toEqual(["short"]);
    // Its lease, not the thirty seconds of the subscription; and not a moment earlier.
    const seconds = (performance.now() - at) / 1000;
    expect(seconds).toBeGreaterThan(8);
    expect(seconds).toBeLessThan(25);
  });

  it("says what is wrong when nothing answers, and when the topic is gone; what was in it can be sent again", {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const address = newAddress();
    const ledger = await openLedger(`sqlite:${folder.path}/results.db`);
    await ledger.prepare();
    let own = await startPubSub();
    const broker = open(address, { emulator: own.host });
    await broker.prepare();
    const parts = { ledger, broker };
    await publishAll(parts, ["a", "b", "c", "d"]);
    const worker = new QueueWorker("w", { ledger, broker: { ...bound(broker), close: async () => undefined } });
    const [first] = await worker.queue.pull(1, { waitMs: 3_000 });
    if (!first) throw new Error("nothing was delivered");
    await worker.start([first]);

    await own.stop();
    // Stored, though the ack could not be said: the message would come again and be found done.
    const lost = await expectRefusal(
      worker.settle([first], result(1)),
      "OUTLAST_QUEUE_UNREACHABLE",
      /cannot be reached/,
    );
    expect(lost.recovery).toBe("retry");
    expect((await ledger.depth()).done).toBe(1);

    own = await startPubSub({ port: own.port });
    const gone = await expectRefusal(
      patiently(() => broker.pull(1, { waitMs: 0, leaseMs: 30_000 })),
      "OUTLAST_QUEUE_MISSING",
      /does not exist/,
    );
    expect(gone.recovery).toBe("give-up");
    await expectRefusal(broker.send([item("x")]), "OUTLAST_QUEUE_MISSING", /does not exist/);

    await broker.prepare();
    expect(await ledger.retryMissing()).toBe(3);
    expect(await sendPending(ledger, broker)).toBe(3);
    const queue = new SplitQueue(broker, ledger, { holder: "w2", leaseMs: 30_000, limits });
    for (let i = 0; !(await ledger.isDrained()) && i < 20; i += 1) {
      const deliveries = await queue.pull(10, { waitMs: 2_000 });
      const outcomes = deliveries.length > 0 ? await queue.start(deliveries, { isIdle: true }) : [];
      const settlements = deliveries.flatMap((delivery, n) => {
        const outcome = outcomes[n];
        return outcome && "claim" in outcome
          ? [{ ...delivery, delivery, claim: outcome.claim, ending: result(2) }]
          : [];
      });
      await queue.settle(settlements);
    }
    await expectSound(ledger, { done: 4 });
    await ledger.close();
    await own.stop();
    await folder.dispose();
  });
});

/** A server that has just come back may not be heard at once. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i += 1) {
    try {
      return await act();
    } catch (error) {
      if (i > 40 || !(error instanceof OutlastError) || error.recovery !== "retry") throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

function bound(broker: Broker): Broker {
  return {
    url: broker.url,
    prepare: () => broker.prepare(),
    plan: () => broker.plan(),
    send: (items) => broker.send(items),
    pull: (max, options) => broker.pull(max, options),
    extend: (deliveries, ms) => broker.extend(deliveries, ms),
    ack: (deliveries) => broker.ack(deliveries),
    nack: (deliveries, ms) => broker.nack(deliveries, ms),
    close: () => broker.close(),
  };
}
