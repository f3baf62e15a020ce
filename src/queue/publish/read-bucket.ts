import { OutlastError } from "../../core/index.ts";
import { openStore } from "../../storage/index.ts";
import type { SourceBatch, SourceRow } from "./source.ts";

const batchObjects = 1000;

/** The objects below a prefix of a bucket: `{"url": …, "size": …}` each. */
export async function* readBucket(location: string): AsyncGenerator<SourceBatch> {
  const store = await openStore(location, { access: "read" });
  const [place = ""] = location.split("?");
  const base = place.endsWith("/") ? place : `${place}/`;
  let rows: SourceRow[] = [];
  let count = 0;
  for await (const { key, size } of store.list("", { everyName: true })) {
    count += 1;
    rows.push({ line: count, data: { url: base + key, size } });
    if (rows.length < batchObjects) continue;
    yield { source: location, rows };
    rows = [];
  }
  if (rows.length > 0) yield { source: location, rows };
  if (count > 0) return;
  throw new OutlastError("OUTLAST_USAGE", `there is nothing below ${location}`, {
    hint: "a prefix is a folder: gs://BUCKET/images finds gs://BUCKET/images/1.jpg",
    operation: "publish",
    target: location,
  });
}
