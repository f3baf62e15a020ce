import { createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ErrorCode, OutlastError } from "../../src/core/index.ts";
import { type Ledger, openLedger, parseResultsUrl } from "../../src/results/index.ts";
import { openPostgresLedger, type PostgresLedgerOptions, scalerQuery } from "../../src/results/postgres/index.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { freePort } from "../servers/server-process.ts";
import { failure, key, LedgerWorker, publish, result, resultsOf } from "./ledger-world.ts";
import { newDatabase, type TestDatabase } from "./postgres-world.ts";

describe.skipIf(!hasPostgres())("Postgres as a place for results", () => {
  let server: PostgresServer;
  let database: TestDatabase;
  const opened: Ledger[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    database = await newDatabase(server);
  });
  afterEach(async () => {
    for (const ledger of opened.splice(0)) await ledger.close();
    await database.dispose();
    database = await newDatabase(server);
  });
  afterAll(() => server?.stop());

  const quick = { attempts: 1, lockTimeoutMs: 200 };
  const open = (query = "", options: PostgresLedgerOptions = quick, url = database.url): Ledger => {
    const address = parseResultsUrl(query === "" ? url : `${url}?${query}`);
    if (address.kind !== "postgres") throw new Error("not Postgres");
    const ledger = openPostgresLedger(address, options);
    opened.push(ledger);
    return ledger;
  };
  const sql = (text: string) => server.query(text, database.name);
  const refusal = async (act: Promise<unknown>): Promise<OutlastError> => {
    const error = await act.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(OutlastError);
    if (!(error instanceof OutlastError)) throw new Error("not refused");
    expect(error.hint).toBeTruthy();
    return error;
  };
  const expectRefusal = async (act: Promise<unknown>, code: ErrorCode, message: RegExp) => {
    const error = await refusal(act);
    expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringMatching(message) });
    return error;
  };

  describe("a table of the user's", () => {
    const cases: readonly (readonly [string, string, string, RegExp])[] = [
      ["without the column", "CREATE TABLE t (id text PRIMARY KEY, other jsonb)", "table=t", /no column result/],
      ["whose id is not unique", "CREATE TABLE t (id text, result jsonb)", "table=t", /unique/],
      ["unique only together", "CREATE TABLE t (id text, of text, result jsonb, UNIQUE (id, of))", "table=t", /unique/],
      [
        "unique only in part",
        "CREATE TABLE t (id text, result jsonb); CREATE UNIQUE INDEX ON t (id) WHERE id <> ''",
        "table=t",
        /unique/,
      ],
      ["whose id is a number", "CREATE TABLE t (id bigint PRIMARY KEY, result jsonb)", "table=t", /type bigint/],
      ["whose result is a number", "CREATE TABLE t (id text PRIMARY KEY, result integer)", "table=t", /type integer/],
      [
        "that needs more",
        "CREATE TABLE t (id text PRIMARY KEY, result jsonb, run text NOT NULL)",
        "table=t",
        /needs a value for run/,
      ],
      [
        "that makes its own values",
        "CREATE TABLE t (id text PRIMARY KEY, result jsonb GENERATED ALWAYS AS ('1'::jsonb) STORED)",
        "table=t",
        /no column result/,
      ],
      ["that is a view", "CREATE VIEW t AS SELECT 'a'::text AS id, '1'::jsonb AS result", "table=t", /not a table/],
    ];
    it.each(cases)("is refused %s", async (_, make, query, message) => {
      await sql(make);
      await expectRefusal(open(query).prepare(), "OUTLAST_TABLE_UNSUITABLE", message);
      expect(await sql("SELECT to_regclass('outlast.items') AS there")).toEqual([{ there: null }]);
    });

    it("in another schema takes results into columns of their types, and its other columns stay", async () => {
      await sql(`CREATE SCHEMA "my results"; CREATE TABLE "my results"."Labels" ("Image" varchar(20) PRIMARY KEY, label text,
        score real NOT NULL, tags text[], seen timestamptz DEFAULT now(), note text DEFAULT 'kept')`);
      const ledger = open(`table=${encodeURIComponent("my results.Labels")}&id=Image&columns=label,score,tags`);
      await ledger.prepare();
      const worker = new LedgerWorker(ledger, "w");
      await publish(ledger, ["a", "b", "c", "x".repeat(21)]);
      const items = await worker.take();
      const outcomes = await ledger.settle(
        items.map((item) => ({
          ...item,
          claim: worker.claims.get(item.id) ?? "",
          ending: result(
            item.id === "b"
              ? { label: "no score" }
              : { label: item.id === "c" ? "c\\0" : "cat", score: 0.5, tags: ["x", "y"] },
          ),
        })),
        { holder: "w", limits: { attempts: 3, suspectAfter: 2, lonelyInterruptions: 3 } },
      );
      // One has no score, one an id too long for its column; only these are dead, and say why.
      expect(outcomes.map((outcome) => "isDead" in outcome)).toEqual([false, true, false, true]);
      expect((await ledger.dead(undefined, 9)).map(({ error }) => error)).toEqual([
        expect.stringMatching(/cannot be stored: .*score.*not-null/),
        expect.stringMatching(/cannot be stored: .*too long/),
      ]);
      expect(
        await sql(`SELECT "Image", label, score, tags, note FROM "my results"."Labels" WHERE "Image" = 'a'`),
      ).toEqual([{ Image: "a", label: "cat", score: 0.5, tags: ["x", "y"], note: "kept" }]);
    });

    it("that refuses one result by a trigger keeps that item out and the others in", async () => {
      await sql(`CREATE TABLE t (id text PRIMARY KEY, result json);
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.id = 'b' THEN RAISE EXCEPTION 'no b here'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()`);
      const ledger = open("table=t");
      await ledger.prepare();
      const worker = new LedgerWorker(ledger, "w");
      await publish(ledger, ["a", "b", "c"]);
      await worker.settle(await worker.take(), result({ n: 1 }));
      expect(await resultsOf(ledger)).toEqual({ a: { n: 1 }, c: { n: 1 } });
      expect(await ledger.dead(undefined, 9)).toMatchObject([{ id: "b", error: expect.stringMatching(/no b here/) }]);
    });
  });

  describe("says what is wrong", () => {
    it("when nothing was prepared", async () => {
      const ledger = open();
      await expectRefusal(ledger.lease(1, 1000, "w"), "OUTLAST_DATABASE_UNSUITABLE", /lacks a table or function/);
      await expectRefusal(ledger.isDrained(), "OUTLAST_DATABASE_UNSUITABLE", /lacks/);
      await expectRefusal(
        ledger.settle([], { holder: "w", limits: { attempts: 1, suspectAfter: 2, lonelyInterruptions: 3 } }),
        "OUTLAST_TABLE_UNSUITABLE",
        /no table/,
      );
    });

    it("when a newer outlast made it", async () => {
      await open().prepare();
      await sql("UPDATE outlast.meta SET value = '99' WHERE name = 'ledger-version'");
      await expectRefusal(open().prepare(), "OUTLAST_DATABASE_UNSUITABLE", /version 99/);
    });

    it("when the password is wrong, the user may not, or the database is missing, without showing the password", async () => {
      await server.createRole(`nobody_${database.name}`, "s3cret-Password");
      const as = (secret: string, name = database.name) =>
        `postgres://nobody_${database.name}:${secret}@127.0.0.1:${server.port}/${name}`;
      const errors = [
        await expectRefusal(
          open("", quick, as("wr0ng-Password")).prepare(),
          "OUTLAST_DATABASE_DENIED",
          /refused the login/,
        ),
        await expectRefusal(
          open("", quick, as("s3cret-Password")).prepare(),
          "OUTLAST_DATABASE_DENIED",
          /does not allow/,
        ),
        await expectRefusal(
          open("", quick, as("s3cret-Password", "not-there")).prepare(),
          "OUTLAST_DATABASE_UNSUITABLE",
          /does not exist/,
        ),
      ];
      for (const error of errors) {
        const shown = `${error.message} ${error.hint} ${error.target} ${String(error.stack)}`;
        expect(shown).not.toMatch(/s3cret|wr0ng/);
        expect(error.recovery).toBe("give-up");
      }
    });

    it("when the user may read but not write the results", async () => {
      await sql("CREATE TABLE results (id text PRIMARY KEY, result jsonb)");
      await server.createRole(`reader_${database.name}`, "x");
      await sql(
        `GRANT CREATE ON DATABASE "${database.name}" TO "reader_${database.name}"; GRANT SELECT ON results TO "reader_${database.name}"`,
      );
      const url = `postgres://reader_${database.name}:x@127.0.0.1:${server.port}/${database.name}`;
      await expectRefusal(open("", quick, url).prepare(), "OUTLAST_DATABASE_DENIED", /may not write/);
      await sql(`REVOKE ALL ON DATABASE "${database.name}" FROM "reader_${database.name}"`);
    });

    it("when nothing listens, the name is unknown, or the other side is no Postgres; those heal", async () => {
      const at = (host: string) => open("", { attempts: 1 }, `postgres://u:p@${host}/db`);
      const port = await freePort();
      expect(
        (await expectRefusal(at(`127.0.0.1:${port}`).prepare(), "OUTLAST_DATABASE_UNREACHABLE", /cannot be reached/))
          .recovery,
      ).toBe("retry");
      const other = createServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
      expect(
        (await expectRefusal(at(`127.0.0.1:${port}`).prepare(), "OUTLAST_DATABASE_UNREACHABLE", /cannot be reached/))
          .recovery,
      ).toBe("retry");
      await new Promise((resolve) => other.close(resolve));
    });

    it("when the server has no TLS and the URL asks for it", async () => {
      await expectRefusal(open("sslmode=require").prepare(), "OUTLAST_DATABASE_UNREACHABLE", /speaks no TLS/);
    });

    it("when an id cannot be stored", async () => {
      const ledger = open();
      await ledger.prepare();
      await expectRefusal(ledger.add([{ id: "a\0b", data: {} }]), "OUTLAST_USAGE", /NUL/);
    });
  });

  it("is prepared by many at once, once", async () => {
    await Promise.all(Array.from({ length: 6 }, () => open("", { attempts: 3 }).prepare()));
    expect(await sql("SELECT name, value FROM outlast.meta")).toEqual([{ name: "ledger-version", value: "1" }]);
    expect(await open().plan()).toEqual([]);
  });

  it("can be prepared by an administrator from the printed plan, for a user who may only use it", async () => {
    const user = `worker_${database.name}`;
    await server.createRole(user, "x");
    const ledger = open("", quick, `postgres://${user}:x@127.0.0.1:${server.port}/${database.name}`);
    await sql((await ledger.plan()).join(";\n"));
    await sql(`GRANT USAGE ON SCHEMA outlast TO "${user}"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA outlast TO "${user}";
      GRANT SELECT, INSERT, UPDATE ON results TO "${user}"`);
    await ledger.prepare();
    const worker = new LedgerWorker(ledger, "w");
    await publish(ledger, ["a"]);
    await worker.settle(await worker.take(), result(1));
    expect(await ledger.audit()).toMatchObject({ done: 1, missing: [] });
    await sql(`DROP OWNED BY "${user}"`);
  });

  it("tells an autoscaler ready plus leased in one integer, at every step", async () => {
    const ledger = open();
    await ledger.prepare();
    const scale = async () => Object.values((await sql(scalerQuery))[0] ?? {})[0];
    expect(scalerQuery).not.toContain("\n");
    expect(await scale()).toBe(0);
    await publish(ledger, ["a", "b", "c", "d"]);
    expect(await scale()).toBe(4);
    const worker = new LedgerWorker(ledger, "w");
    await worker.lease(2);
    expect(await scale()).toBe(4);
    await worker.start([key("a"), key("b")]);
    await worker.settle([key("a")], result(1));
    expect(await scale()).toBe(3);
    await worker.settle([key("b")], failure("later", 60_000));
    // Waiting for its retry: nobody is needed for it now.
    expect(await scale()).toBe(2);
    const depth = await ledger.depth();
    expect(depth.ready + depth.leased).toBe(2);
  });

  it("sums up its tally without changing what it says", async () => {
    const ledger = open();
    await ledger.prepare();
    await publish(ledger, ["a", "b"]);
    const worker = new LedgerWorker(ledger, "w");
    await worker.settle(await worker.take(1), result(1));
    await sql("INSERT INTO outlast.tally (at, late) SELECT now() - interval '1 hour', 1 FROM generate_series(1, 6000)");
    const before = await ledger.depth();
    expect(before).toMatchObject({ total: 2, done: 1, ready: 1, late: 6000, ratePerMinute: 1 });
    expect(await ledger.depth()).toEqual({ ...before, oldestReadySeconds: expect.any(Number) });
    expect(Number((await sql("SELECT count(*) AS n FROM outlast.tally"))[0]?.["n"])).toBeLessThan(10);
  });

  it("walks an index to lease, however many are waiting and done", async () => {
    const first = open();
    await first.prepare();
    await first.close();
    await sql(`INSERT INTO outlast.items (id, data, state) SELECT 'done' || n, '{}', 'done' FROM generate_series(1, 20000) AS n;
      INSERT INTO outlast.items (id, data) SELECT 'i' || n, '{}' FROM generate_series(1, 20000) AS n; ANALYZE outlast.items`);
    const scans = async () => {
      const rows =
        await sql(`SELECT seq_scan::int AS seq, (SELECT idx_scan::int FROM pg_stat_user_indexes WHERE indexrelname = 'items_ready') AS ready
        FROM pg_stat_user_tables WHERE relname = 'items' AND schemaname = 'outlast'`);
      return rows[0] ?? {};
    };
    const before = await scans();
    const ledger = open();
    // More often than it takes for the server to settle on one plan for all.
    for (let i = 0; i < 12; i += 1) await ledger.lease(10, 60_000, "w");
    await ledger.close();
    // A connection tells its counts when it ends.
    await expect.poll(async () => (await scans())["ready"], { timeout: 15_000 }).toBeGreaterThanOrEqual(12);
    expect((await scans())["seq"]).toBe(before["seq"]);
  });

  it("is opened by its URL alone, as a queue too", async () => {
    const ledger = await openLedger(database.url);
    opened.push(ledger);
    await ledger.prepare();
    expect(ledger.url).not.toContain("only-for-tests");
    expect(await ledger.isDrained()).toBe(false);
  });
});
