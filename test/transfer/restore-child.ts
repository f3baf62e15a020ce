import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { createTransfer } from "../../src/checkpoint/transfer/index.ts";
import { openStore } from "../../src/storage/index.ts";

// Restores a manifest from a store and prints how many chunks each thread was given. A process of its own: which certificates are trusted is
// settled when it starts.
const [url = "", manifestPath = "", into = ""] = process.argv.slice(2);
const chunks = new Map<number, number>();
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof post>) {
  const message = args[0] as { readonly job?: { readonly kind: string } };
  if (message.job?.kind === "fetch") chunks.set(this.threadId, (chunks.get(this.threadId) ?? 0) + 1);
  post.apply(this, args);
};
const transfer = createTransfer({ workers: 2 });
const store = await openStore(url, { access: "read" });
const manifest = JSON.parse(readFileSync(manifestPath, "utf8")) as Manifest;
await transfer.fetch({ store, prefix: "a/", manifest, into });
await transfer.close();
process.stdout.write(JSON.stringify([...chunks.values()]));
