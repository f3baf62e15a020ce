import { type Clock, randomId, systemClock } from "../../core/index.ts";
import { type Item, quoteName, type ResultsAddress } from "../../results/index.ts";
import {
  defaultSchema,
  migrate,
  missingStatements,
  type NextWork,
  PostgresDatabase,
  type PostgresDatabaseOptions,
  quoteText,
  type SchemaPart,
  WakeUp,
} from "../../results/postgres/index.ts";
import type { Broker, Delivery } from "../types.ts";
import { queueMigrations } from "./queue-schema.ts";

type PostgresAddress = Extract<ResultsAddress, { kind: "postgres" }>;

/** How to open a broker. */
export interface PostgresBrokerOptions extends Partial<Omit<PostgresDatabaseOptions, "connection" | "shown">> {
  /** The schema that holds our tables. @default "outlast" */
  readonly schema?: string;
}

interface MessageRow extends Delivery {
  readonly seq: string;
}

/** Rows in one statement. */
const maxRows = 5_000;

/** Messages in a Postgres database whose results are elsewhere. A receipt is good until the message is delivered again. */
export class PostgresBroker implements Broker {
  readonly url: string;
  readonly #database: PostgresDatabase;
  readonly #clock: Clock;
  readonly #part: SchemaPart;
  readonly #wakeUp: WakeUp;
  readonly #sql: ReturnType<typeof brokerStatements>;

  constructor(address: PostgresAddress, options: PostgresBrokerOptions = {}) {
    const { schema = defaultSchema, clock = systemClock } = options;
    this.url = address.shown;
    this.#clock = clock;
    this.#database = new PostgresDatabase({ ...options, connection: address.connection, shown: address.shown });
    this.#part = { schema, name: "queue", migrations: queueMigrations(schema) };
    this.#wakeUp = new WakeUp(this.#database, schema, clock);
    this.#sql = brokerStatements(schema);
  }

  async prepare(): Promise<void> {
    await migrate(this.#database, this.#part, async () => undefined);
  }

  async plan(): Promise<readonly string[]> {
    return this.#database.transaction("plan", (query) => missingStatements(query, this.#part));
  }

  async send(items: readonly Item[]): Promise<void> {
    for (let from = 0; from < items.length; from += maxRows) {
      const part = items.slice(from, from + maxRows);
      await this.#run(
        "send",
        ...keysOf(part),
        part.map((item) => JSON.stringify(item.data)),
      );
    }
  }

  async pull(max: number, { waitMs, leaseMs, signal }: Parameters<Broker["pull"]>[1]): Promise<readonly Delivery[]> {
    const end = this.#clock.monotonic() + waitMs;
    while (!signal?.aborted) {
      this.#wakeUp.forget();
      const rows = await this.#run<MessageRow>("pull", max, leaseMs, randomId());
      if (rows.length > 0) return rows.map(({ id, generation, data, receipt }) => ({ id, generation, data, receipt }));
      const leftMs = end - this.#clock.monotonic();
      if (leftMs <= 0) break;
      await this.#wakeUp.wait(leftMs, signal, () => this.#next());
    }
    return [];
  }

  async extend(deliveries: readonly Delivery[], leaseMs: number): Promise<void> {
    await this.#run("extend", ...keysOf(deliveries), receiptsOf(deliveries), leaseMs);
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    await this.#run("ack", ...keysOf(deliveries), receiptsOf(deliveries));
  }

  async nack(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    await this.#run("nack", ...keysOf(deliveries), receiptsOf(deliveries), delayMs);
  }

  async close(): Promise<void> {
    await this.#wakeUp.close();
    await this.#database.close();
  }

  async #next(): Promise<NextWork> {
    return (await this.#run<NextWork>("next"))[0] ?? { isReady: false, inMs: null };
  }

  #run<Row>(name: keyof ReturnType<typeof brokerStatements>, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#database.query<Row>(name, this.#sql[name], values);
  }
}

/** Opens the broker in a Postgres database; it connects with the first call. */
export function openPostgresBroker(address: PostgresAddress, options: PostgresBrokerOptions = {}): Broker {
  return new PostgresBroker(address, options);
}

function brokerStatements(schema: string) {
  const s = quoteName(schema);
  const notify = `pg_notify(${quoteText(schema)}, '')`;
  // Locked in order, so that two lists never wait for each other in a circle; only with the receipt of the last delivery.
  const found = `WITH found AS MATERIALIZED (
    SELECT m.id, m.generation FROM ${s}.messages AS m
    JOIN unnest($1::text[], $2::int[], $3::text[]) AS asked (id, generation, receipt) USING (id, generation, receipt)
    ORDER BY m.id, m.generation FOR UPDATE OF m)`;
  const isFound = "m.id = found.id AND m.generation = found.generation";
  return {
    send: `WITH sent AS (
      INSERT INTO ${s}.messages (id, generation, data)
      SELECT g.id, g.generation, g.data::json FROM unnest($1::text[], $2::int[], $3::text[]) WITH ORDINALITY AS g (id, generation, data, ord)
      ORDER BY g.ord ON CONFLICT (id, generation) DO NOTHING RETURNING 1
    ) SELECT CASE WHEN count(*) > 0 THEN ${notify} END FROM sent`,
    pull: `SELECT * FROM ${s}.pull_messages($1, $2, $3) ORDER BY seq`,
    extend: `${found} UPDATE ${s}.messages AS m SET visible_at = clock_timestamp() + $4::double precision * interval '1 ms'
      FROM found WHERE ${isFound}`,
    ack: `${found} DELETE FROM ${s}.messages AS m USING found WHERE ${isFound}`,
    nack: `${found}, freed AS (
      UPDATE ${s}.messages AS m SET receipt = NULL,
        visible_at = CASE WHEN $4::double precision > 0 THEN clock_timestamp() + $4::double precision * interval '1 ms' END
      FROM found WHERE ${isFound} RETURNING 1
    ) SELECT CASE WHEN count(*) > 0 THEN ${notify} END FROM freed`,
    next: `SELECT EXISTS (SELECT 1 FROM ${s}.messages WHERE visible_at IS NULL) AS "isReady",
      (SELECT extract(epoch FROM min(visible_at) - clock_timestamp()) * 1000 FROM ${s}.messages
        WHERE visible_at IS NOT NULL)::double precision AS "inMs"`,
  };
}

function keysOf(items: readonly Item[]): [string[], number[]] {
  return [items.map((item) => item.id), items.map((item) => item.generation)];
}

function receiptsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map((delivery) => delivery.receipt);
}
