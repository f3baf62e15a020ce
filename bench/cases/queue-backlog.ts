import { setTimeout as sleep } from "node:timers/promises";
import { hasPostgres, type PostgresServer, startPostgres } from "../../test/servers/postgres.ts";
import type { BenchCase } from "../case.ts";
import { median } from "../harness.ts";
import { fillQueue, itemCount, workerCount } from "../queue/items.ts";
import { postgresSpan, rateOf } from "../queue/settled.ts";
import { startWorker } from "../queue/workers.ts";

const longBacklog = itemCount * 50;
const mostRounds = 3;
const flat = 0.2;

/** The same number of items worked off a backlog of 20 thousand and of a million, in Postgres. */
export const benchCase: BenchCase = {
  name: "queue-backlog",
  async run({ build, rounds, note }) {
    if (!hasPostgres()) return [];
    const server = await startPostgres();
    try {
      const rates: Record<"short" | "long", number[]> = { short: [], long: [] };
      const long = await server.createDatabase("long");
      await fillQueue(long, undefined, longBacklog);
      for (let round = 1; round <= Math.min(rounds, mostRounds); round += 1) {
        const name = `short_${round}`;
        const short = await server.createDatabase(name);
        await fillQueue(short, undefined, itemCount);
        rates.short.push(await workOffSome(server, build, name, short));
        rates.long.push(await workOffSome(server, build, "long", long));
        note(`backlog, round ${round}: ${JSON.stringify(rates)}`);
      }
      const [few, many] = [median(rates.short), median(rates.long)];
      return [
        {
          name: `Postgres, backlog ${longBacklog}`,
          ours: `${many.toFixed(0)}/s`,
          peer: `${few.toFixed(0)}/s (backlog ${itemCount})`,
          result: `${(many / few).toFixed(2)}×`,
          bar: `1 ± ${flat}`,
          isMet: Math.abs(many / few - 1) <= flat,
        },
      ];
    } finally {
      await server.stop();
    }
  },
};

/** Works off as many items as the short backlog has; gives back items a second. */
async function workOffSome(server: PostgresServer, build: string, database: string, url: string): Promise<number> {
  // Times of earlier rounds are out of the way, and so is whatever the server would still do for them.
  await server.query("DELETE FROM outlast.items WHERE state = 'done'", database);
  await server.query("VACUUM ANALYZE", database);
  const settled = "SELECT count(*)::int AS settled FROM outlast.items WHERE state = 'done'";
  const before = await server.query("SELECT count(*)::int AS results FROM results", database);
  const workers = Array.from({ length: workerCount }, () => startWorker({ build, queue: url }));
  const target = Number(before[0]?.["results"]) + itemCount;
  for (;;) {
    const [row] = await server.query("SELECT count(*)::int AS results FROM results", database);
    if (Number(row?.["results"]) >= target) break;
    const dead = workers.find(({ child }) => child.exitCode !== null);
    if (dead) throw new Error(`a worker ended early:\n${(await dead.ended).stderr}`);
    await sleep(200);
  }
  for (const { child } of workers) child.kill("SIGTERM");
  await Promise.all(workers.map(({ ended }) => ended));
  const [row] = await server.query(settled, database);
  const count = Math.min(itemCount, Number(row?.["settled"]));
  return rateOf(await postgresSpan(url, "outlast.items", "settled_at", count));
}
