import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { openQueueParts, publish } from "../../src/queue/index.ts";

// Publishes a file into a new SQLite queue with the compiled package; says how long that took and how much memory it needed.
const { build, source, url } = JSON.parse(process.argv[2] ?? "{}") as { build: string; source: string; url: string };
const queue = (await import(pathToFileURL(join(build, "queue/index.js")).href)) as {
  openQueueParts: typeof openQueueParts;
  publish: typeof publish;
};
const parts = await queue.openQueueParts(url);
await parts.ledger.prepare();
const began = performance.now();
const { added } = await queue.publish({ ...parts, from: [source], id: "id" });
const ms = performance.now() - began;
await parts.ledger.close();
process.stdout.write(JSON.stringify({ ms, added, bytes: process.resourceUsage().maxRSS * 1024 }));
