import { type Clock, OutlastError, systemClock } from "../../core/index.ts";
import type { BucketUrl } from "../bucket-url.ts";
import type { BucketStore } from "../object-store.ts";
import { JsonApi } from "./api.ts";
import { GoogleCredentials, noCredentials, type TokenSource } from "./credentials.ts";
import { endpointOf, type Environment } from "./endpoint.ts";
import { GcsStore } from "./gcs-store.ts";

/** How {@link openBucketStore} opens. */
export interface GcsStoreOptions {
  /** `read` asks for a token that cannot write. */
  readonly access: "read" | "write";
  /** @default process.env */
  readonly env?: Environment;
  /** @default the application's default credentials, for endpoints that want any */
  readonly tokens?: TokenSource;
  /** How long a connection may show no progress. @default 60_000 */
  readonly idleMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

// Google allows names of 1,024 bytes, of which a key may take 512.
const longestPrefix = 512;

/** Opens a bucket of Google Cloud Storage; asks nothing of it yet, and looks for no credentials. */
export function openBucketStore(place: BucketUrl, options: GcsStoreOptions): BucketStore {
  const { access, env = process.env, idleMs = 60_000, clock = systemClock } = options;
  if (place.prefix.length > longestPrefix) {
    throw new OutlastError("OUTLAST_USAGE", `the prefix in ${place.url} is longer than ${longestPrefix} bytes`, {
      operation: "open",
      target: place.url,
      hint: "choose a shorter prefix",
    });
  }
  const endpoint = endpointOf(place, env);
  const tokens =
    options.tokens ?? (endpoint.wantsCredentials ? new GoogleCredentials({ access, clock }) : noCredentials);
  return new GcsStore({ place, access, endpoint, clock, api: new JsonApi({ endpoint, tokens, idleMs }) });
}
