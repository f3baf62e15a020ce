import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { loadBuild } from "../build.ts";
import { measure } from "./measure.ts";

// Restores a shipment of ship.ts: read the manifest, fetch, verify every byte, write, fsync. Prints one JSON line.
const input = JSON.parse(process.argv[2] ?? "{}") as { build: string; store: string; into: string; owner: string };
const { createTransfer, openStore } = await loadBuild(input.build);
const prefix = "bench/";
const measured = await measure(async () => {
  const store = await openStore(input.store, { access: "read" });
  const transfer = createTransfer();
  const text = Buffer.from(await store.get(`${prefix}steps/1/${input.owner}.json`)).toString();
  const result = await transfer.fetch({ store, prefix, manifest: JSON.parse(text) as Manifest, into: input.into });
  return { transfer, bytes: result.bytes };
});
await measured.value.transfer.close();
process.stdout.write(`${JSON.stringify({ ...measured, value: undefined, bytes: measured.value.bytes })}\n`);
