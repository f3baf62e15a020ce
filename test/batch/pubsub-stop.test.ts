import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPubSubBroker } from "../../src/queue/pubsub/index.ts";
import { newAddress } from "../queue/pubsub-world.ts";
import { hasPubSub, type PubSubServer, startPubSub } from "../servers/pubsub.ts";

const rounds = 30;
const chunk = 10;

describe.skipIf(!hasPubSub())("a Pub/Sub pull that is stopped while it is under way", () => {
  let server: PubSubServer;
  beforeAll(async () => {
    server = await startPubSub();
  }, 60_000);
  afterAll(() => server.stop());

  test("hides no message from the other workers", { timeout: 120_000 }, async () => {
    const address = newAddress();
    const [stopped, other] = [0, 1].map(() => openPubSubBroker(address, { emulator: server.host }));
    if (!stopped || !other) throw new Error("unreachable");
    await stopped.prepare();
    for (let round = 0; round < rounds; round += 1) {
      const items = Array.from({ length: chunk }, (_, i) => ({ id: `r${round}-${i}`, generation: 0, data: {} }));
      await stopped.send(items);
      const stop = new AbortController();
      const pulling = stopped.pull(chunk, { waitMs: round % 2 ? 5000 : 250, leaseMs: 600_000, signal: stop.signal });
      // Before, during and after the answer.
      setTimeout(() => stop.abort(), (round * 0.37) % 10);
      await stopped.nack(await pulling, 0);
      const seen = new Set<string>();
      // Less than the ten seconds after which a message that was lost on the way comes again.
      for (const until = performance.now() + 6000; seen.size < chunk && performance.now() < until; ) {
        const found = await other.pull(chunk, { waitMs: 200, leaseMs: 60_000 });
        for (const { id } of found) seen.add(id);
        await other.ack(found);
      }
      expect([...seen].toSorted(), `round ${round}`).toEqual(items.map(({ id }) => id).toSorted());
    }
    await Promise.all([stopped.close(), other.close()]);
  });
});
