import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isOutlastError } from "../../src/core/index.ts";
import { type Ledger, parseResultsUrl } from "../../src/results/index.ts";
import { openPostgresLedger, type PostgresLedgerOptions } from "../../src/results/postgres/index.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { type PostgresProxy, startPostgresProxy } from "../servers/postgres-proxy.ts";
import { expectSound, failure, handBack, key, LedgerWorker, publish, result, resultsOf } from "./ledger-world.ts";
import { newDatabase, passTime, type TestDatabase } from "./postgres-world.ts";

describe.skipIf(!hasPostgres())("a Postgres that fails", () => {
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let database: TestDatabase;
  const opened: Ledger[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    proxy = await startPostgresProxy(server.port);
  });
  beforeEach(async () => {
    database = await newDatabase(server);
    await open().prepare();
  });
  afterEach(async () => {
    for (const ledger of opened.splice(0)) await ledger.close();
    await database.dispose();
  });
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  function open(options: PostgresLedgerOptions & { readonly isProxied?: boolean } = {}): Ledger {
    const url = options.isProxied ? database.url.replace(`:${server.port}/`, `:${proxy.port}/`) : database.url;
    const address = parseResultsUrl(url);
    if (address.kind !== "postgres") throw new Error("not Postgres");
    const ledger = openPostgresLedger(address, options);
    opened.push(ledger);
    return ledger;
  }

  /** Holds the row of an item until the returned function is called. */
  async function lockRow(id: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: database.url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("BEGIN");
    await client.query("SELECT 1 FROM outlast.items WHERE id = $1 FOR UPDATE", [id]);
    return async () => {
      await client.query("COMMIT");
      await client.end();
    };
  }

  const waitingStatements = () =>
    server.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = '${database.name}' AND wait_event_type = 'Lock' AND application_name = 'outlast'`,
    );

  it.each(["before", "after"] as const)("settles once when the connection is cut %s the commit", async (when) => {
    const ledger = open({ isProxied: true });
    const worker = new LedgerWorker(ledger, "w");
    await publish(ledger, ["a", "b", "c"]);
    await worker.take();
    const cutsBefore = proxy.cuts;
    for (const [id, ending] of [
      ["a", result({ n: 1 })],
      ["b", failure("no")],
      ["c", handBack],
    ] as const) {
      proxy.cutNext("settle", when);
      const outcome = await worker.settleOne(key(id), ending);
      expect(outcome.kind).toBe(when === "before" ? "accepted" : "repeated");
    }
    expect(proxy.cuts - cutsBefore).toBe(3);
    expect(await resultsOf(ledger)).toEqual({ a: { n: 1 } });
    const [b] = await server.query("SELECT failures, interruptions FROM outlast.items WHERE id = 'b'", database.name);
    expect(b).toEqual({ failures: 1, interruptions: 0 });
    expect(await ledger.depth()).toMatchObject({ done: 1, ready: 2, leased: 0, interruptions: 0, late: 0 });
  });

  it.each(["before", "after"] as const)(
    "starts once, uncharged, when the connection is cut %s the commit",
    async (when) => {
      const ledger = open({ isProxied: true });
      const worker = new LedgerWorker(ledger, "w");
      await publish(ledger, ["a", "b"]);
      const items = await worker.lease();
      const cutsBefore = proxy.cuts;
      proxy.cutNext("start\0", when);
      expect(await worker.start(items)).toMatchObject([{ kind: "started" }, { kind: "started" }]);
      expect(proxy.cuts).toBe(cutsBefore + 1);
      await worker.settle(items, result(1));
      expect(await ledger.depth()).toMatchObject({ done: 2, interruptions: 0 });
      await expectSound(ledger, { done: 2 });
    },
  );

  it("starts a suspect alone again when the reply to its start was lost", async () => {
    const ledger = open({ isProxied: true });
    const worker = new LedgerWorker(ledger, "w");
    await publish(ledger, ["suspect"]);
    for (let i = 0; i < 2; i += 1) {
      await worker.take();
      await passTime(server, database.name, 31_000);
    }
    await publish(ledger, ["suspect", "other"]);
    const items = await worker.lease();
    expect(items).toHaveLength(2);
    const cutsBefore = proxy.cuts;
    proxy.cutNext("start\0", "after");
    expect(await worker.start(items)).toMatchObject([{ kind: "started-alone" }, { kind: "handed-back" }]);
    expect(proxy.cuts).toBe(cutsBefore + 1);
    expect(await ledger.depth()).toMatchObject({ leased: 1, ready: 1, interruptions: 2 });
  });

  it("adds once when the reply was lost", async () => {
    const ledger = open({ isProxied: true });
    await publish(ledger, []);
    const cutsBefore = proxy.cuts;
    proxy.cutNext("add\0", "after");
    await ledger.add([{ id: "a", data: {} }]);
    expect(proxy.cuts).toBe(cutsBefore + 1);
    expect(await ledger.depth()).toMatchObject({ total: 1, ready: 1 });
  });

  it("goes on when the server ends a session in the middle of a settlement", async () => {
    const ledger = open();
    const worker = new LedgerWorker(ledger, "w");
    await publish(ledger, ["a", "b"]);
    const items = await worker.take();
    const unlock = await lockRow("b");
    const settling = worker.settle(items, result("x"));
    await expect.poll(async () => (await waitingStatements()).length, { timeout: 15_000 }).toBe(1);
    const pid = String((await waitingStatements())[0]?.["pid"]);
    await server.query(`SELECT pg_terminate_backend(${pid})`);
    expect(await resultsOf(open())).toEqual({});
    await unlock();
    expect(await settling).toEqual([{ kind: "accepted" }, { kind: "accepted" }]);
    await expectSound(ledger, { done: 2 });
  });

  it("says so when a lock is held too long, stores nothing, and can be asked again", async () => {
    const ledger = open({ lockTimeoutMs: 100, attempts: 1 });
    const worker = new LedgerWorker(ledger, "w");
    await publish(ledger, ["a", "b"]);
    const items = await worker.take();
    const unlock = await lockRow("b");
    const error = await worker.settle(items, result(1)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isOutlastError(error, "OUTLAST_DATABASE_UNREACHABLE") && error.recovery).toBe("retry");
    expect(await resultsOf(ledger)).toEqual({});
    await unlock();
    expect(await worker.settle(items, result(1))).toEqual([{ kind: "accepted" }, { kind: "accepted" }]);
  });

  it("leases past rows that others hold", async () => {
    const ledger = open({ lockTimeoutMs: 100, attempts: 1 });
    await publish(ledger, ["a", "b"]);
    const unlock = await lockRow("a");
    expect((await ledger.lease(2, 1000, "w")).map(({ id }) => id)).toEqual(["b"]);
    await unlock();
  });

  it("loses and doubles nothing over stops and kills of the server in the middle of a job", async () => {
    const ids = Array.from({ length: 400 }, (_, i) => `i${i}`);
    const first = open();
    await publish(first, ids);
    const surprises: unknown[] = [];
    let settled = 0;
    /** As a worker does: what heals is tried again. */
    const patiently = async <T>(act: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await act();
        } catch (error) {
          if (isOutlastError(error) && error.recovery === "retry") continue;
          surprises.push(error);
          throw error;
        }
      }
    };
    const work = async (holder: string) => {
      const worker = new LedgerWorker(open({ attempts: 3 }), holder);
      while (!(await patiently(() => worker.ledger.isDrained()))) {
        const items = await patiently(() => worker.lease(10));
        if (items.length === 0) {
          await worker.ledger.wait(200);
          continue;
        }
        const outcomes = await patiently(() => worker.start(items));
        const started = items.filter((_, i) => outcomes[i]?.kind.startsWith("started"));
        await patiently(() => worker.settle(started, result(holder)));
        settled += started.length;
        // A lease that a crash forgot, or a start that it forgot, comes back by itself; time is not waited for here.
        if (items.length > started.length) await passTime(server, database.name, 31_000);
      }
    };
    const trouble = async () => {
      for (const [i, act] of [server.restart, server.kill, server.restart].entries()) {
        await expect.poll(() => settled, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(60 * (i + 1));
        await act();
        if (act === server.kill) await server.restart();
      }
      // What the crash left under a lease is claimable again.
      await passTime(server, database.name, 31_000);
    };
    await Promise.all([work("w1"), work("w2"), trouble()]);
    expect(surprises).toEqual([]);
    await expectSound(open(), { done: 400 });
    expect(Object.keys(await resultsOf(open()))).toHaveLength(400);
  });

  it("hears of new work again after its listening connection was cut", async () => {
    const ledger = open();
    await publish(ledger, []);
    await ledger.wait(300);
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}' AND application_name = 'outlast'`,
    );
    const waiting = ledger.wait(20_000);
    await open().add([{ id: "a", data: {} }]);
    await waiting;
    expect(await ledger.lease(1, 1000, "w")).toHaveLength(1);
  });
});
