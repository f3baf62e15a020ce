import type { FakeBucket, FakeObject } from "./bucket.ts";

/** An object as the JSON API describes it. */
export function describeObject(bucket: FakeBucket, object: FakeObject): Record<string, unknown> {
  return {
    kind: "storage#object",
    contentType: "application/octet-stream",
    storageClass: "STANDARD",
    ...object.metadata,
    id: `${bucket.name}/${object.name}/${object.generation}`,
    name: object.name,
    bucket: bucket.name,
    generation: `${object.generation}`,
    metageneration: "1",
    size: `${object.bytes.length}`,
    crc32c: object.crc32c,
    etag: etagOf(object),
    timeCreated: new Date(object.updatedMs).toISOString(),
    updated: new Date(object.updatedMs).toISOString(),
  };
}

export function etagOf(object: FakeObject): string {
  return Buffer.from(`${object.generation}`).toString("base64");
}
