import type { IncomingMessage } from "node:http";

/** What a request does to objects. */
export type Verb = "put" | "get" | "list" | "delete" | "other";

/** One request of an S3 or GCS client, as a proxy sees it. */
export interface ProxiedRequest {
  /** The first one through the proxy has number 1. */
  readonly number: number;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly verb: Verb;
  /** The object's key, or a listing's prefix; without the bucket. Empty when it is about the bucket itself. */
  readonly key: string;
}

/** Says which object a request is about. `start` is the beginning of its body: GCS uploads may carry the name there. */
export function readRequest(request: IncomingMessage, number: number, start: Buffer): ProxiedRequest {
  const { method = "GET", url = "/", rawHeaders } = request;
  const { pathname, searchParams } = new URL(url, "http://proxy");
  const gcs = /^(\/upload|\/download)?\/storage\/v1\/b\/[^/]+(?:\/o(?:\/(.*))?)?$/.exec(pathname);
  const path = gcs ? (gcs[2] ?? "") : pathname.replace(/^\/[^/]*\/?/, "");
  const named = path === "" ? (searchParams.get("name") ?? nameInside(start)) : decodeURIComponent(path);
  const isListing = named === undefined && method === "GET" && (gcs ? /\/o$/.test(pathname) : true);
  return {
    number,
    method,
    url,
    rawHeaders,
    verb: isListing ? "list" : verbOf(method, named),
    key: named ?? searchParams.get("prefix") ?? "",
  };
}

function verbOf(method: string, name: string | undefined): Verb {
  if (name === undefined) return "other";
  if (method === "GET" || method === "HEAD") return "get";
  if (method === "DELETE") return "delete";
  return method === "PUT" || method === "POST" ? "put" : "other";
}

/** The name in the metadata part of a GCS multipart upload. */
function nameInside(start: Buffer): string | undefined {
  const name = /"name"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(start.toString("latin1", 0, 4096))?.[1];
  return name && (JSON.parse(name) as string);
}

/** Where the object's own bytes are in a body: all of it, or the second part of a GCS multipart upload. */
export function payloadRange(
  rawHeaders: readonly string[],
  body: Buffer,
): { readonly from: number; readonly to: number } {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-type");
  if (at < 0 || !/^multipart\/related/i.test(rawHeaders[at + 1] ?? "")) return { from: 0, to: body.length };
  const blank = "\r\n\r\n";
  const from = body.indexOf(blank, body.indexOf(blank) + blank.length) + blank.length;
  return { from, to: body.lastIndexOf("\r\n--") };
}
