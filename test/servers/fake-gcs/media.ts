import { type Answer, failure } from "./answer.ts";
import type { FakeObject } from "./bucket.ts";
import { etagOf } from "./describe-object.ts";

/** An object's bytes, or the part of them that a `Range` header names. */
export function mediaOf(object: FakeObject, range: string | undefined): Answer {
  const size = object.bytes.length;
  const { contentType } = object.metadata;
  const headers = {
    "content-type": typeof contentType === "string" ? contentType : "application/octet-stream",
    "accept-ranges": "bytes",
    etag: etagOf(object),
    "last-modified": new Date(object.updatedMs).toUTCString(),
    "x-goog-generation": `${object.generation}`,
    "x-goog-metageneration": "1",
    "x-goog-hash": `crc32c=${object.crc32c}`,
    "x-goog-storage-class": "STANDARD",
    "x-goog-stored-content-encoding": "identity",
    "x-goog-stored-content-length": `${size}`,
  };
  const part = readRange(range, size);
  if (!part) return { status: 200, headers, bytes: object.bytes };
  if (part.first >= size) {
    const refused = failure(416, "requestedRangeNotSatisfiable", "Request range not satisfiable", true);
    return { ...refused, headers: { ...refused.headers, "content-range": `bytes */${size}` } };
  }
  const bytes = object.bytes.subarray(part.first, part.last + 1);
  return { status: 206, headers: { ...headers, "content-range": `bytes ${part.first}-${part.last}/${size}` }, bytes };
}

/** The bytes asked for, cut at the end; undefined where the header is none or no sense, which is ignored. */
function readRange(
  range: string | undefined,
  size: number,
): { readonly first: number; readonly last: number } | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(range ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  if (from === "") return { first: Math.max(0, size - Number(to)), last: size - 1 };
  const last = to === "" ? size - 1 : Number(to);
  return last < Number(from) && to !== "" ? undefined : { first: Number(from), last: Math.min(last, size - 1) };
}
