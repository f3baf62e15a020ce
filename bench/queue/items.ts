import { openQueueParts, publish } from "../../src/queue/index.ts";

/** Items of one run; fewer to try the cases out. */
export const itemCount = Number(process.env["BENCH_ITEMS"] ?? 20_000);
export const chunk = 10;
export const workerCount = 2;

/** Rows of about 130 bytes, as a table of pictures has them. */
export function* rows(count: number): Generator<Record<string, string | number>> {
  for (let i = 0; i < count; i += 1) yield row(i);
}

export function row(i: number): Record<string, string | number> {
  const name = String(i).padStart(8, "0");
  return {
    id: `picture-${name}`,
    url: `gs://pictures/2026/${name}.jpg`,
    width: 1024,
    height: 768,
    source: "camera-17",
  };
}

/** Publishes that many; not what is measured. */
export async function fillQueue(queue: string, results: string | undefined, count: number): Promise<void> {
  const { ledger, broker } = await openQueueParts(queue, results);
  try {
    await broker?.prepare();
    await ledger.prepare();
    await publish({ ledger, broker, from: rows(count), id: "id", name: "bench" });
  } finally {
    await Promise.all([ledger.close(), broker?.close()]);
  }
}
