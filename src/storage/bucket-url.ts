import { OutlastError } from "../core/index.ts";

/** A bucket and what is under which name in it. */
export interface BucketUrl {
  readonly scheme: "gs" | "s3";
  readonly bucket: string;
  /** Empty, or ends in `/`. */
  readonly prefix: string;
  /** `endpoint` and `region`, where the URL gives them. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** As the user gave it, free of secrets. */
  readonly url: string;
}

/**
 * Reads `gs://BUCKET/PREFIX` and `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`.
 *
 * @example
 * parseBucketUrl("s3://checkpoints/team-a?endpoint=http://minio:9000")
 */
export function parseBucketUrl(url: string): BucketUrl {
  const match = /^(gs|s3):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  const [, scheme, bucket, path = "", query = ""] = match ?? [];
  if (!scheme || !bucket) throw unreadable(url, "it names no bucket");
  if (bucket.includes("@")) throw unreadable(url, "it holds credentials");
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket)) throw unreadable(url, `"${bucket}" is not a bucket's name`);
  const segments = path.split("/").filter((segment) => segment !== "");
  const odd = segments.find((segment) => segment === "." || segment === ".." || !/^[A-Za-z0-9._=-]+$/.test(segment));
  if (odd !== undefined) throw unreadable(url, `"${odd}" cannot be part of its prefix`);
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (name !== "endpoint" && name !== "region") throw unreadable(url, `it has an unknown parameter "${name}"`);
  }
  if (parameters.get("endpoint")?.includes("@")) throw unreadable(url, "its endpoint holds credentials");
  return {
    scheme: scheme.toLowerCase() as "gs" | "s3",
    bucket,
    prefix: segments.map((segment) => `${segment}/`).join(""),
    endpoint: parameters.get("endpoint") ?? undefined,
    region: parameters.get("region") ?? undefined,
    url,
  };
}

function unreadable(given: string, why: string): OutlastError {
  // Wherever credentials stand, in the URL itself or in its endpoint: no error shows them.
  const url = given.replace(/(\/\/|%2f%2f)[^/?&]*(@|%40)/gi, "//…@");
  return new OutlastError("OUTLAST_USAGE", `the store ${url} cannot be used: ${why}`, {
    operation: "open",
    target: url,
    hint: "write gs://BUCKET/PREFIX or s3://BUCKET/PREFIX (for another server: s3://BUCKET/PREFIX?endpoint=URL)",
  });
}
