import { rm } from "node:fs/promises";
import { join } from "node:path";
import { hasPostgres, startPostgres } from "../../test/servers/postgres.ts";
import type { BenchCase, Figure } from "../case.ts";
import { interleave, median } from "../harness.ts";
import { Boss } from "../queue/boss.ts";
import { fillQueue, itemCount } from "../queue/items.ts";
import { memoryFigure, ratioFigure } from "../queue/figures.ts";
import { postgresSpan, rateOf, sqliteSpan } from "../queue/settled.ts";
import { workOff } from "../queue/workers.ts";

const mostMib = 120;

/** A no-op handler behind the shipped worker, chunk 10, 2 workers, every settlement durable; the peer is pg-boss 12, which upserts by itself. */
export const benchCase: BenchCase = {
  name: "queue-throughput",
  async run({ build, rounds, workspace, note }) {
    if (!hasPostgres()) return [];
    const path = join(workspace.folder, "throughput.db");
    const server = await startPostgres();
    try {
      const boss = new Boss(await server.createDatabase("boss"));
      await boss.create();
      const url = await server.createDatabase("ours");
      const memory: Record<string, number> = {};
      const results = await interleave<number>(
        [
          {
            name: "embedded",
            prepare: async () => {
              for (const end of ["", "-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
              await fillQueue(`sqlite:${path}`, undefined, itemCount);
            },
            run: async () => {
              memory["embedded"] = Math.max(memory["embedded"] ?? 0, await workOff({ build, queue: `sqlite:${path}` }));
              return rateOf(sqliteSpan(path, "outlast_items", "settled_at", itemCount));
            },
          },
          {
            name: "postgres",
            prepare: async () => {
              await server.query("DROP SCHEMA IF EXISTS outlast CASCADE; DROP TABLE IF EXISTS results", "ours");
              await fillQueue(url, undefined, itemCount);
              await server.query("VACUUM ANALYZE", "ours");
            },
            run: async () => {
              memory["postgres"] = Math.max(memory["postgres"] ?? 0, await workOff({ build, queue: url }));
              return rateOf(await postgresSpan(url, "outlast.items", "settled_at", itemCount));
            },
          },
          {
            name: "pg-boss",
            prepare: async () => {
              await boss.clear();
              await boss.fill(itemCount);
              await boss.vacuum();
            },
            run: async () => {
              await boss.workOff();
              return rateOf(await postgresSpan(boss.url, "pgboss.job", "completed_on", itemCount));
            },
          },
        ],
        rounds,
        note,
      );
      const rate = (name: string) => median(results.get(name) ?? []);
      const figures: Figure[] = [
        ratioFigure("embedded", rate("embedded"), "pg-boss 12", rate("pg-boss"), 2),
        ratioFigure("Postgres", rate("postgres"), "pg-boss 12", rate("pg-boss"), 1.3),
        memoryFigure("worker on SQLite", memory["embedded"] ?? Number.NaN, mostMib),
        memoryFigure("worker on Postgres", memory["postgres"] ?? Number.NaN, mostMib),
      ];
      return figures;
    } finally {
      await server.stop();
    }
  },
};
