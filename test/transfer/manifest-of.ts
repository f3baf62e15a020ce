import type { Manifest } from "../../src/checkpoint/manifest.ts";
import type { SendResult } from "../../src/checkpoint/transfer/index.ts";

/** A manifest of what was sent, all else made up. */
export function manifestOf({ chunks, entries, bytes }: SendResult): Manifest {
  const numbers = { format: 1, step: 1, shard: 0, of: 1, gang: 1, epoch: 1, shipment: 1 } as const;
  const names = { run: "a", convention: "generic", path: "", hash: "blake3", savedAt: "" } as const;
  return { ...numbers, ...names, chunks, entries, last: [], bytes };
}
