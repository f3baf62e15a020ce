import { type Answer, failure } from "./answer.ts";
import type { FakeBucket } from "./bucket.ts";
import { describeObject } from "./describe-object.ts";

const mostResults = 1000;

/** One page of a listing: objects, and with a delimiter what they have in common; both count towards the page. */
export function listObjects(bucket: FakeBucket, query: URLSearchParams): Answer {
  const asked = query.get("maxResults");
  if (asked !== null && !/^\d+$/.test(asked)) return failure(400, "invalid", `Invalid value for maxResults: ${asked}`);
  const most = Math.min(Number(asked) || mostResults, mostResults);
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const token = query.get("pageToken");
  let last = token === null ? "" : Buffer.from(token, "base64url").toString("utf8");
  const items: unknown[] = [];
  const prefixes: string[] = [];
  const isBehind = (name: string) =>
    last !== "" && (compare(name, last) <= 0 || (isGroup(last) && name.startsWith(last)));
  const isGroup = (name: string) => delimiter !== "" && name.length > prefix.length && name.endsWith(delimiter);
  for (const name of bucket.names()) {
    if (!name.startsWith(prefix) || isBehind(name)) continue;
    if (items.length + prefixes.length >= most) {
      return page(items, prefixes, Buffer.from(last).toString("base64url"));
    }
    const end = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
    const object = bucket.objects.get(name);
    if (end >= 0) {
      last = name.slice(0, end + delimiter.length);
      prefixes.push(last);
    } else if (object) {
      last = name;
      items.push(describeObject(bucket, object));
    }
  }
  return page(items, prefixes, undefined);
}

function page(items: unknown[], prefixes: string[], nextPageToken: string | undefined): Answer {
  const body = {
    kind: "storage#objects",
    ...(nextPageToken !== undefined && { nextPageToken }),
    ...(prefixes.length > 0 && { prefixes }),
    ...(items.length > 0 && { items }),
  };
  return { status: 200, body };
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
