import { type Clock, OutlastError, randomId, systemClock } from "../../core/index.ts";
import type { ResultsAddress } from "../results-url.ts";
import type {
  Audit,
  DeadItem,
  Depth,
  Item,
  ItemKey,
  JsonValue,
  Ledger,
  NewItem,
  Settlement,
  SettleOutcome,
  StartOutcome,
} from "../types.ts";
import { auditItems } from "./audit.ts";
import { readDepth } from "./depth.ts";
import { ledgerMigrations } from "./ledger-schema.ts";
import { ledgerStatements } from "./ledger-statements.ts";
import { migrate, missingStatements, type SchemaPart } from "./migrate.ts";
import { PostgresDatabase, type PostgresDatabaseOptions } from "./postgres-database.ts";
import { purgeItems } from "./purge.ts";
import { readResults } from "./read-results.ts";
import { createTable, readTable, type TableShape, tableName } from "./results-table.ts";
import { defaultSchema } from "./scaler-query.ts";
import { type SettleOptions, settleChunk } from "./settle.ts";
import { readStartOutcome, type StartRow } from "./start-outcome.ts";
import { type NextWork, WakeUp } from "./wake-up.ts";

type PostgresAddress = Extract<ResultsAddress, { kind: "postgres" }>;

/** How to open a ledger. */
export interface PostgresLedgerOptions extends Partial<Omit<PostgresDatabaseOptions, "connection" | "shown">> {
  /** The schema that holds our tables. @default "outlast" */
  readonly schema?: string;
}

interface ItemAnswer {
  readonly seq: string;
  readonly id: string;
  readonly generation: number;
  readonly data: Item["data"];
}

/** Rows in one statement. */
const maxRows = 5_000;
/** How long a worker may take fresh items without looking for what came back. */
const lookFromFrontMs = 500;

/** The ledger and the results in one Postgres database; every call is one round trip. */
export class PostgresLedger implements Ledger {
  readonly url: string;
  readonly #address: PostgresAddress;
  readonly #schema: string;
  readonly #database: PostgresDatabase;
  readonly #wakeUp: WakeUp;
  readonly #part: SchemaPart;
  readonly #sql: ReturnType<typeof ledgerStatements>;
  readonly #clock: Clock;
  #table: Promise<TableShape> | undefined;
  /** Where the last lease was in the order of publishing, and when one last looked from the front. */
  #place: string | undefined;
  #lookedAt = 0;

  constructor(address: PostgresAddress, options: PostgresLedgerOptions = {}) {
    const { schema = defaultSchema, clock = systemClock } = options;
    this.url = address.shown;
    this.#address = address;
    this.#schema = schema;
    this.#clock = clock;
    this.#database = new PostgresDatabase({ ...options, connection: address.connection, shown: address.shown });
    this.#wakeUp = new WakeUp(this.#database, schema, clock);
    this.#part = { schema, name: "ledger", migrations: ledgerMigrations(schema) };
    this.#sql = ledgerStatements(schema);
  }

  async prepare(): Promise<void> {
    await migrate(this.#database, this.#part, async (query) => {
      if (!(await readTable(query, this.#address.results))) await query(createTable(this.#address.results));
    });
    this.#table = undefined;
  }

  async plan(): Promise<readonly string[]> {
    return this.#database.transaction("plan", async (query) => {
      const table = await readTable(query, this.#address.results);
      return [...(await missingStatements(query, this.#part)), ...(table ? [] : [createTable(this.#address.results)])];
    });
  }

  async openPublication(name: string): Promise<void> {
    await this.#run("openPublication", name);
  }

  async closePublications(name: string): Promise<void> {
    await this.#run("closePublications", name);
  }

  async add(items: readonly NewItem[]): Promise<number> {
    let added = 0;
    for (let from = 0; from < items.length; from += maxRows) {
      const part = items.slice(from, from + maxRows);
      for (const { id } of part) refuseNul(id);
      const data = part.map((item) => JSON.stringify(item.data));
      const [row] = await this.#run<{ added: number }>("add", part.map(idOf), data);
      added += row?.added ?? 0;
    }
    return added;
  }

  async pending(
    after: string | undefined,
    limit: number,
  ): Promise<{ items: readonly Item[]; next: string | undefined }> {
    const rows = await this.#run<ItemAnswer>("pending", after ?? "0", limit);
    return { items: rows.map(itemOf), next: rows.length === limit ? rows.at(-1)?.seq : undefined };
  }

  async markSent(items: readonly ItemKey[]): Promise<void> {
    await this.#run("markSent", ...keysOf(items));
  }

  async lease(max: number, leaseMs: number, holder: string): Promise<readonly Item[]> {
    this.#wakeUp.forget();
    const now = this.#clock.monotonic();
    const isFromFront = this.#place === undefined || now - this.#lookedAt > lookFromFrontMs;
    const rows = await this.#run<ItemAnswer>("lease", max, leaseMs, holder, isFromFront ? null : this.#place);
    if (isFromFront) this.#lookedAt = now;
    // Rows are in order of publishing: what comes before the first was taken already, or came back and is found from the front.
    this.#place = rows[0] && `${BigInt(rows[0].seq) - 1n}`;
    return rows.map(itemOf);
  }

  async renew(items: readonly ItemKey[], leaseMs: number, holder: string): Promise<readonly ItemKey[]> {
    const rows = await this.#run<ItemKey>("renew", ...keysOf(items), leaseMs, holder);
    const renewed = new Map(rows.map((row) => [row.id, row.generation]));
    const lost = items.filter((item) => renewed.get(item.id) !== item.generation);
    return lost.map(({ id, generation }) => ({ id, generation }));
  }

  async release(items: readonly ItemKey[], holder: string): Promise<void> {
    await this.#run("release", ...keysOf(items), holder);
  }

  async start(items: readonly ItemKey[], options: Parameters<Ledger["start"]>[1]): Promise<readonly StartOutcome[]> {
    const { holder, leaseMs, isIdle, limits } = options;
    // Made here, so that a start that is asked again because its reply was lost is known to be the same.
    const claim = randomId();
    const { suspectAfter, lonelyInterruptions } = limits;
    const rest = [claim, holder, leaseMs, isIdle, suspectAfter, lonelyInterruptions];
    const rows = await this.#run<StartRow>("start", ...keysOf(items), ...rest);
    return rows.map((row) => readStartOutcome(row, claim));
  }

  async settle(settlements: readonly Settlement[], options: SettleOptions): Promise<readonly SettleOutcome[]> {
    const target = { schema: this.#schema, shape: await this.#shape(), table: this.#address.results };
    return settleChunk(this.#database, target, settlements, options);
  }

  async isDrained(): Promise<boolean> {
    return (await this.#run<{ isDrained: boolean }>("isDrained"))[0]?.isDrained ?? false;
  }

  async depth(): Promise<Depth> {
    return readDepth(this.#database, this.#schema);
  }

  async audit(): Promise<Audit> {
    return auditItems(this.#database, this.#schema, await this.#shape(), this.#address.results);
  }

  async dead(after: string | undefined, limit: number): Promise<readonly DeadItem[]> {
    const rows = await this.#run<Omit<DeadItem, "diedAt"> & { diedAt: Date | null; error: string | null }>(
      "dead",
      after ?? null,
      limit,
    );
    return rows.map(({ id, generation, data, error, failures, interruptions, diedAt }) => ({
      id,
      generation,
      data,
      error: error ?? "",
      failures,
      interruptions,
      diedAt: (diedAt ?? new Date(0)).toISOString(),
    }));
  }

  async retry(ids: readonly string[] | undefined): Promise<number> {
    return (await this.#run<{ n: number }>("retry", ids ?? null))[0]?.n ?? 0;
  }

  async retryMissing(): Promise<number> {
    return (await this.#run<{ n: number }>("retryMissing"))[0]?.n ?? 0;
  }

  async purge(): Promise<number> {
    return purgeItems(this.#database, this.#schema);
  }

  async *results(): AsyncIterable<{ readonly id: string; readonly result: JsonValue }> {
    yield* readResults(this.#database, await this.#shape(), this.#address.results);
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#wakeUp.wait(ms, signal, async () => {
      const [next] = await this.#run<NextWork>("next");
      return next ?? { isReady: false, inMs: null };
    });
  }

  async close(): Promise<void> {
    await this.#wakeUp.close();
    await this.#database.close();
  }

  #shape(): Promise<TableShape> {
    const reading = (this.#table ??= this.#readShape());
    return reading;
  }

  async #readShape(): Promise<TableShape> {
    try {
      const { results } = this.#address;
      const shape = await this.#database.transaction("open", (query) => readTable(query, results));
      if (shape) return shape;
      throw new OutlastError("OUTLAST_TABLE_UNSUITABLE", `${this.url} has no table ${tableName(results)}`, {
        operation: "open",
        target: tableName(results),
        hint: "run `outlast queue create` with the same URLs, or mend the name after table=",
      });
    } catch (error) {
      this.#table = undefined;
      throw error;
    }
  }

  #run<Row>(name: keyof ReturnType<typeof ledgerStatements>, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#database.query<Row>(name, this.#sql[name], values);
  }
}

/** Opens the ledger in a Postgres database; it connects with the first call. */
export function openPostgresLedger(address: PostgresAddress, options: PostgresLedgerOptions = {}): Ledger {
  return new PostgresLedger(address, options);
}

function itemOf({ id, generation, data }: ItemAnswer): Item {
  return { id, generation, data };
}

function idOf(item: { readonly id: string }): string {
  return item.id;
}

function keysOf(items: readonly ItemKey[]): [string[], number[]] {
  return [items.map(idOf), items.map((item) => item.generation)];
}

function refuseNul(id: string): void {
  if (!id.includes("\0")) return;
  throw new OutlastError("OUTLAST_USAGE", `the id ${JSON.stringify(id)} holds a NUL character`, {
    operation: "publish",
    target: id,
    hint: "Postgres cannot store it; clean the id column or leave --id out",
  });
}
