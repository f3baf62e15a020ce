import { afterAll, beforeAll, describe } from "vitest";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { hasPubSub, type PubSubServer, startPubSub } from "../servers/pubsub.ts";
import { describeBroker } from "./broker-suite.ts";
import { openPubSubBrokers, openPubSubQueue } from "./pubsub-world.ts";
import { describeWorkQueue } from "./queue-suite.ts";

describe.skipIf(!hasPubSub())("on Google's Pub/Sub emulator", () => {
  let server: PubSubServer;
  beforeAll(async () => {
    server = await startPubSub();
  });
  afterAll(() => server?.stop());

  describeBroker("Pub/Sub", () => openPubSubBrokers(server));
  describeWorkQueue("Pub/Sub, results in SQLite", () => openPubSubQueue(server, undefined));

  describe.skipIf(!hasPostgres())("with a real PostgreSQL", () => {
    let postgres: PostgresServer;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres?.stop());

    describeWorkQueue("Pub/Sub, results in Postgres", () => openPubSubQueue(server, postgres));
  });
});
