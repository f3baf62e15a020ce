import { DatabaseSync } from "node:sqlite";
import { PubSub, v1 } from "@google-cloud/pubsub";

// The least that pull, upsert, ack can be: no ledger, no leases kept, no handler. Ends when nothing is left.
const input = JSON.parse(process.argv[2] ?? "{}") as { subscription: string; path: string; chunk: number };
const config = await new PubSub({ projectId: "bench" }).getClientConfig();
const subscriber = new v1.SubscriberClient(config as ConstructorParameters<typeof v1.SubscriberClient>[0]);
const db = new DatabaseSync(input.path);
db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000");
const upsert = db.prepare(
  "INSERT INTO results (id, result, settled_at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET result = excluded.result",
);
const { subscription } = input;
let done = 0;
for (;;) {
  const [{ receivedMessages }] = await subscriber.pull(
    { subscription, maxMessages: input.chunk, returnImmediately: true },
    { timeout: 15_000, retry: null },
  );
  const messages = receivedMessages ?? [];
  if (messages.length === 0) break;
  db.exec("BEGIN IMMEDIATE");
  for (const { message } of messages) {
    const id = message?.attributes?.["id"] ?? message?.messageId ?? "";
    upsert.run(id, '{"label":"cat","score":0.97}', Date.now());
  }
  db.exec("COMMIT");
  const ackIds = messages.flatMap(({ ackId }) => (ackId ? [ackId] : []));
  await subscriber.acknowledge({ subscription, ackIds }, { timeout: 15_000, retry: null });
  done += messages.length;
}
db.close();
await subscriber.close();
process.stdout.write(JSON.stringify({ done }));
