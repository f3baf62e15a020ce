import type { S3Client } from "@aws-sdk/client-s3";
import { abortable } from "../abortable.ts";
import type { BucketUrl } from "../bucket-url.ts";
import type { CallOptions } from "../object-store.ts";
import type { S3Call } from "./meaning.ts";
import { s3Error } from "./s3-error.ts";
import { failureBehind } from "./s3-failure.ts";

/** What a call is, for its errors. */
export type CallName = Pick<S3Call, "operation" | "target" | "action">;

/** One request, and how its client is told to stop it. */
export type Request<T> = (client: S3Client, http: { readonly abortSignal?: AbortSignal }) => Promise<T>;

/** Makes requests with one client, made when the first is due, and says in our words why one failed. */
export class S3Caller {
  readonly place: BucketUrl;
  /** The server's address where it is not Amazon's. */
  readonly endpoint: string | undefined;
  readonly #create: () => Promise<S3Client>;
  #client: Promise<S3Client> | undefined;
  #hasWorked = false;

  constructor(place: BucketUrl, endpoint: string | undefined, create: () => Promise<S3Client>) {
    this.place = place;
    this.endpoint = endpoint;
    this.#create = create;
  }

  /** Carries a request out; rejects at once, with its reason, when the signal aborts. */
  async call<T>(name: CallName, options: CallOptions | undefined, request: Request<T>): Promise<T> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const client = (this.#client ??= this.#create());
    const work = client.then((ready) => request(ready, signal ? { abortSignal: signal } : {}));
    try {
      const result = await abortable(work, signal);
      this.#hasWorked = true;
      return result;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const { bucket } = this.place;
      const known = s3Error(error, { ...name, bucket, endpoint: this.endpoint, hasWorked: this.#hasWorked });
      // The client keeps what it once read from a file or the environment; a new one reads what stands there now.
      const isExpired = failureBehind(known)?.name.startsWith("ExpiredToken");
      if (isExpired && this.#client === client) this.#client = undefined;
      throw known;
    }
  }
}
