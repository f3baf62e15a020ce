import { type Clock, randomId, systemClock } from "../../core/index.ts";
import {
  type Item,
  type ItemData,
  insertMany,
  missingTables,
  type ResultsAddress,
  requireTables,
  SqliteFile,
  type SqliteFileOptions,
} from "../../results/index.ts";
import type { Broker, Delivery } from "../types.ts";

const maxRows = 2_000;
const purgeRows = 1_000;
const slowestPollMs = 50;

const columns = "SELECT seq, id, generation, data FROM outlast_messages WHERE";
// 0 stands for "at once"; what came back or waited goes first.
const findReturned = `${columns} visible_at BETWEEN 1 AND ? ORDER BY visible_at, seq LIMIT ?`;
const findFresh = `${columns} visible_at = 0 ORDER BY seq LIMIT ?`;
const claimRow = "UPDATE outlast_messages SET visible_at = ?2, receipt = ?3 WHERE seq = ?1";
const ready = "SELECT 1 FROM outlast_messages WHERE visible_at <= ? LIMIT 1";
const matches = "(seq, receipt) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))";

/** Messages in an SQLite file, for results that are kept elsewhere. A delivery is known by its row and a receipt of its own. */
export class SqliteBroker implements Broker {
  readonly url: string;
  readonly #address: Extract<ResultsAddress, { kind: "sqlite" }>;
  readonly #options: SqliteFileOptions;
  readonly #clock: Clock;
  #opened: Promise<SqliteFile> | undefined;

  constructor(address: Extract<ResultsAddress, { kind: "sqlite" }>, options: SqliteFileOptions = {}) {
    this.url = address.shown;
    this.#address = address;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async prepare(): Promise<void> {
    await this.close();
    const file = await SqliteFile.open(this.#address.path, "create", this.#options);
    try {
      const make = () => {
        for (const statement of missingTables(file, "broker")) file.run(statement);
      };
      await file.write("prepare", make, { isDurable: true });
      this.#opened = Promise.resolve(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  plan(): Promise<readonly string[]> {
    return SqliteFile.peek(this.#address.path, this.#options, (file) => missingTables(file, "broker"));
  }

  async send(items: readonly Item[]): Promise<void> {
    // A message that is there already is the same message: sending it again is a lost reply, or a publisher that was killed.
    const into = "outlast_messages (id, generation, data)";
    for (let i = 0; i < items.length; i += maxRows) {
      const part = items.slice(i, i + maxRows);
      await this.#write("send", true, part.length, (file) => {
        insertMany(
          file,
          into,
          3,
          part.map(({ id, generation, data }) => [id, generation, JSON.stringify(data)]),
        );
      });
    }
  }

  async pull(
    max: number,
    options: { readonly waitMs: number; readonly leaseMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]> {
    const end = this.#clock.monotonic() + options.waitMs;
    for (let pauseMs = 2; ; pauseMs = Math.min(slowestPollMs, pauseMs * 2)) {
      const file = await this.#use();
      // Looking takes no lock; most pulls of an idle queue end here.
      const hasSome = await file.read("pull", () => file.get(ready, file.now()) !== undefined);
      const found = hasSome ? await this.#write("pull", false, max, () => take(file, max, options.leaseMs)) : [];
      const leftMs = end - this.#clock.monotonic();
      if (found.length > 0 || leftMs <= 0 || options.signal?.aborted) return found;
      await this.#clock.sleep(Math.min(pauseMs, leftMs), options.signal);
    }
  }

  async extend(deliveries: readonly Delivery[], leaseMs: number): Promise<void> {
    const sql = `UPDATE outlast_messages SET visible_at = ?2 WHERE ${matches}`;
    await this.#write("extend", false, deliveries.length, (file) => {
      file.run(sql, keys(deliveries), file.now() + leaseMs);
    });
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    // Not durable by itself: a message that a power cut brings back is found settled and acked again.
    await this.#write("ack", false, deliveries.length, (file) => {
      file.run(`DELETE FROM outlast_messages WHERE ${matches}`, keys(deliveries));
    });
  }

  async nack(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    const sql = `UPDATE outlast_messages SET visible_at = ?2, receipt = NULL WHERE ${matches}`;
    await this.#write("nack", false, deliveries.length, (file) => {
      file.run(sql, keys(deliveries), delayMs > 0 ? file.now() + delayMs : 0);
    });
  }

  async purge(): Promise<void> {
    const sql = "DELETE FROM outlast_messages WHERE seq IN (SELECT seq FROM outlast_messages LIMIT ?)";
    while ((await this.#write("purge", true, purgeRows, (file) => file.run(sql, purgeRows))) === purgeRows) {
      // The other workers' turn.
      await this.#clock.sleep(0);
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    // One that failed to open has nothing to close; its caller was told.
    const file = await opened?.catch(() => undefined);
    await file?.close();
  }

  async #write<T>(operation: string, isDurable: boolean, rows: number, act: (file: SqliteFile) => T): Promise<T> {
    const file = await this.#use();
    return file.write(operation, () => act(file), { isDurable, rows });
  }

  #use(): Promise<SqliteFile> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<SqliteFile> {
    try {
      const file = await SqliteFile.open(this.#address.path, "existing", this.#options);
      await file.read("open", () => requireTables(file, "broker"));
      return file;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }
}

function take(file: SqliteFile, max: number, leaseMs: number): Delivery[] {
  const now = file.now();
  const receipt = randomId();
  const rows = file.all(findReturned, now, max);
  if (rows.length < max) rows.push(...file.all(findFresh, max - rows.length));
  rows.sort((a, b) => Number(a["seq"]) - Number(b["seq"]));
  return rows.map((row) => {
    file.run(claimRow, row["seq"] as number, now + leaseMs, receipt);
    return {
      id: row["id"] as string,
      generation: row["generation"] as number,
      data: JSON.parse(row["data"] as string) as ItemData,
      receipt: `${String(row["seq"])}:${receipt}`,
    };
  });
}

/** Deliveries as the JSON that `matches` reads. */
function keys(deliveries: readonly Delivery[]): string {
  return JSON.stringify(
    deliveries.map(({ receipt }) => {
      const colon = receipt.indexOf(":");
      return [Number(receipt.slice(0, colon)), receipt.slice(colon + 1)];
    }),
  );
}
