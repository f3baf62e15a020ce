import { rm } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { hasPostgres, startPostgres } from "../../test/servers/postgres.ts";
import type { BenchCase } from "../case.ts";
import { runChild } from "../commands.ts";
import { interleave, median } from "../harness.ts";
import { Boss } from "../queue/boss.ts";
import { ratioFigure } from "../queue/figures.ts";
import { itemCount, rows } from "../queue/items.ts";
import { formatBytes } from "../../src/core/index.ts";

const count = itemCount * 5;
const manyTimes = 10;
/** Ten times the rows may need so much more memory: caches fill up, nothing else grows. */
const growth = 1.5;

interface Published {
  readonly ms: number;
  readonly added: number;
  readonly bytes: number;
}

/** A CSV file into an SQLite queue, durable; the peer is pg-boss's bulk insert of the same rows from memory. */
export const benchCase: BenchCase = {
  name: "queue-publish",
  async run({ build, rounds, workspace, note }) {
    if (!hasPostgres()) return [];
    const server = await startPostgres();
    const path = join(workspace.folder, "publish.db");
    const [some, many] = [join(workspace.folder, "some.csv"), join(workspace.folder, "many.csv")];
    const clear = async () => {
      for (const end of ["", "-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
    };
    const publishFile = async (source: string, wanted: number) => {
      const published = await runChild<Published>("publish-rows", { build, source, url: `sqlite:${path}` });
      if (published.added !== wanted) throw new Error(`${published.added} of ${wanted} rows were published`);
      return published;
    };
    try {
      await writeRows(some, count);
      await writeRows(many, count * manyTimes);
      const boss = new Boss(await server.createDatabase("boss"));
      await boss.create();
      let bytes = 0;
      const results = await interleave<number>(
        [
          {
            name: "embedded",
            prepare: clear,
            run: async () => {
              const published = await publishFile(some, count);
              bytes = Math.max(bytes, published.bytes);
              return (count * 1000) / published.ms;
            },
          },
          {
            name: "pg-boss",
            prepare: () => boss.clear(),
            run: async () => (count * 1000) / (await boss.fill(count)),
          },
        ],
        rounds,
        note,
      );
      await clear();
      const large = await publishFile(many, count * manyTimes);
      const rate = (name: string) => median(results.get(name) ?? []);
      return [
        ratioFigure("publish, embedded", rate("embedded"), "pg-boss 12 insert", rate("pg-boss"), 5),
        {
          name: `memory, publishing ${count * manyTimes}`,
          ours: formatBytes(large.bytes),
          peer: `${formatBytes(bytes)} (${count} rows)`,
          result: `${(large.bytes / bytes).toFixed(2)}×`,
          bar: `≤ ${growth}×`,
          isMet: large.bytes <= growth * bytes,
        },
      ];
    } finally {
      await server.stop();
      for (const file of [some, many]) await rm(file, { force: true });
      await clear();
    }
  },
};

async function writeRows(path: string, total: number): Promise<void> {
  const file = createWriteStream(path);
  let head = "";
  for (const row of rows(total)) {
    if (head === "") {
      head = Object.keys(row).join(",");
      file.write(`${head}\n`);
    }
    if (!file.write(`${Object.values(row).join(",")}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
}
