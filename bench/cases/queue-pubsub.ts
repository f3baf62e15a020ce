import { DatabaseSync } from "node:sqlite";
import type { BenchCase } from "../case.ts";
import { runChild } from "../commands.ts";
import { interleave, median } from "../harness.ts";
import { memoryFigure, ratioFigure } from "../queue/figures.ts";
import { chunk, fillQueue, itemCount, workerCount } from "../queue/items.ts";
import { type Place, Places } from "../queue/places.ts";
import { rateOf, sqliteSpan } from "../queue/settled.ts";
import { workOff } from "../queue/workers.ts";

const mostMib = 200;

/** Google's emulator with results in SQLite: the shipped worker with its ledger and a no-op handler, beside a bare loop of pull, upsert, ack. */
export const benchCase: BenchCase = {
  name: "queue-pubsub",
  async run({ build, rounds, workspace, note }) {
    const places = new Places(workspace.folder);
    try {
      if (!(await places.pubSub())) return [];
      let place: Place | undefined;
      let memory = 0;
      const prepare = async () => {
        place = await places.pubSub();
        if (place) await fillQueue(place.queue, place.results, itemCount);
      };
      const current = () => {
        if (!place) throw new Error("not prepared");
        return { ...place, path: (place.results ?? "").slice("sqlite:".length) };
      };
      const results = await interleave<number>(
        [
          {
            name: "ours",
            prepare,
            run: async () => {
              const { path, ...where } = current();
              memory = Math.max(memory, await workOff({ build, ...where }));
              return rateOf(sqliteSpan(path, "outlast_items", "settled_at", itemCount));
            },
          },
          {
            name: "bare",
            prepare,
            run: async () => {
              const { path, queue, env } = current();
              const bare = `${path}.bare`;
              createResults(bare);
              const { host, pathname } = new URL(queue);
              const subscription = `projects/${host}/subscriptions${pathname}`;
              const loops = Array.from({ length: workerCount }, () =>
                runChild("bare-pubsub", { subscription, path: bare, chunk }, env),
              );
              await Promise.all(loops);
              return rateOf(sqliteSpan(bare, "results", "settled_at", itemCount));
            },
          },
        ],
        rounds,
        note,
      );
      const rate = (name: string) => median(results.get(name) ?? []);
      return [
        ratioFigure("Pub/Sub", rate("ours"), "bare loop", rate("bare"), 0.9),
        memoryFigure("worker on Pub/Sub", memory, mostMib),
      ];
    } finally {
      await places.dispose();
    }
  },
};

function createResults(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL; CREATE TABLE results (id TEXT PRIMARY KEY, result TEXT, settled_at INTEGER)");
  db.close();
}
