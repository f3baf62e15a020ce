import { Client } from "pg";
import { PgBoss } from "pg-boss";

// The full job with pg-boss: fetch 10, upsert 10 rows in the same database, complete. Ends when nothing is left.
const { url, queue, chunk } = JSON.parse(process.argv[2] ?? "{}") as { url: string; queue: string; chunk: number };
const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
const results = new Client({ connectionString: url });
await Promise.all([boss.start(), results.connect()]);
let done = 0;
for (;;) {
  const jobs = await boss.fetch<{ id: string }>(queue, { batchSize: chunk });
  if (jobs.length === 0) break;
  await results.query({
    name: "upsert",
    text: `INSERT INTO boss_results (id, result) SELECT id, '{"label":"cat","score":0.97}'::json FROM unnest($1::text[]) AS id
      ON CONFLICT (id) DO UPDATE SET result = excluded.result`,
    values: [jobs.map(({ data }) => data.id)],
  });
  await boss.complete(
    queue,
    jobs.map(({ id }) => id),
  );
  done += jobs.length;
}
await Promise.all([boss.stop({ graceful: false }), results.end()]);
process.stdout.write(JSON.stringify({ done }));
process.exit(0);
