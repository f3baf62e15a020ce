import { afterAll, beforeAll, describe } from "vitest";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { describeBroker } from "./broker-suite.ts";
import { describeLedger } from "./ledger-suite.ts";
import { openPostgresBrokers, openPostgresLedgers, openPostgresQueue } from "./postgres-world.ts";
import { describeWorkQueue } from "./queue-suite.ts";
import { DatabaseClock, temporaryFolder } from "./sqlite-world.ts";

describe.skipIf(!hasPostgres())("on a real PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  describeLedger(
    "Postgres",
    openPostgresLedgers(() => server),
  );
  describeBroker("Postgres", () => openPostgresBrokers(server));
  describeWorkQueue("one Postgres database", () => openPostgresQueue(server, "direct"));
  describeWorkQueue("Postgres queue, results in another Postgres database", () => openPostgresQueue(server, "split"));
  describeWorkQueue("Postgres queue, results in SQLite", async () => {
    const folder = await temporaryFolder();
    const clock = new DatabaseClock();
    const results = `sqlite:${folder.path}/results.db`;
    const queue = await openPostgresQueue(server, { results, now: clock.now, pass: (ms) => clock.advance(ms) });
    const dispose = async () => {
      await queue.dispose();
      await folder.dispose();
    };
    return { ...queue, dispose };
  });
});
