import { urlToHttpOptions } from "node:url";
import { OutlastError } from "../../core/index.ts";
import type { BucketUrl } from "../bucket-url.ts";

/** The server that is asked, and whether it is shown credentials. */
export interface Endpoint {
  /** Without a slash at its end. */
  readonly origin: string;
  readonly protocol: "http:" | "https:";
  readonly hostname: string;
  readonly port: string | undefined;
  /** What stands before `/storage/v1` in every path; empty, or begins with `/`. */
  readonly basePath: string;
  readonly isGoogle: boolean;
  /** Access tokens travel over TLS only, and never to an emulator. */
  readonly wantsCredentials: boolean;
}

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const google = "https://storage.googleapis.com";

/** Where a bucket is asked for: the URL's `endpoint`, else `STORAGE_EMULATOR_HOST`, else Google. */
export function endpointOf(place: BucketUrl, env: Environment): Endpoint {
  if (place.endpoint !== undefined) return readEndpoint(place, place.endpoint, "its endpoint", true);
  const emulator = env["STORAGE_EMULATOR_HOST"];
  if (!emulator) return readEndpoint(place, google, "", true);
  const url = /^https?:\/\//i.test(emulator) ? emulator : `http://${emulator}`;
  return readEndpoint(place, url, "STORAGE_EMULATOR_HOST", false);
}

function readEndpoint(place: BucketUrl, text: string, what: string, mayAuthorise: boolean): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw unusable(place, `${what} is not an http or https URL`);
  }
  if (url.username !== "" || url.password !== "") throw unusable(place, `${what} holds credentials`);
  const { hostname } = urlToHttpOptions(url);
  // gcsfuse and others want the API's own path in such a setting: take it, since it is what people have at hand.
  const basePath = url.pathname.replace(/\/+$/, "").replace(/\/storage\/v1$/, "");
  return {
    origin: `${url.origin}${basePath}`,
    protocol: url.protocol,
    hostname: hostname ?? url.hostname,
    port: url.port === "" ? undefined : url.port,
    basePath,
    isGoogle: url.hostname.endsWith(".googleapis.com"),
    wantsCredentials: mayAuthorise && url.protocol === "https:",
  };
}

function unusable(place: BucketUrl, why: string): OutlastError {
  const url = place.url.replace(/\?.*$/, "");
  return new OutlastError("OUTLAST_USAGE", `the store ${url} cannot be used: ${why}`, {
    operation: "open",
    target: url,
    hint: "give the server as http://HOST:PORT or https://HOST, without a user or password",
  });
}
