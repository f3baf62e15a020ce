import { type Clock, OutlastError, randomId } from "../../core/index.ts";
import type { BucketUrl } from "../bucket-url.ts";
import { asideFolder, assertKey, assertPrefix, isKey, isKeySegment } from "../keys.ts";
import type { BucketStore, CallOptions, GetOptions, ListOptions, ObjectInfo } from "../object-store.ts";
import type { JsonApi } from "./api.ts";
import type { Endpoint } from "./endpoint.ts";
import { ConnectionLost } from "./exchange.ts";
import { HttpFailure, jsonSink } from "./http-failure.ts";
import { type ListQuery, listPages, type Page, sendForPage } from "./listing.ts";
import { multipartBody } from "./multipart.ts";
import { objectSink, rangeHeader } from "./read-object.ts";
import { storeError } from "./store-error.ts";

/** What a {@link GcsStore} is made of. */
export interface GcsStoreParts {
  readonly place: BucketUrl;
  readonly access: "read" | "write";
  readonly endpoint: Endpoint;
  readonly api: JsonApi;
  readonly clock: Clock;
}

/**
 * Objects in a Cloud Storage bucket. Each call is one request and may be repeated as it is: a repeated insert writes the
 * same bytes, and a repeated conditional one finds what stands.
 */
export class GcsStore implements BucketStore {
  readonly url: string;
  readonly #parts: GcsStoreParts;
  readonly #bucketPath: string;

  constructor(parts: GcsStoreParts) {
    this.url = parts.place.url;
    this.#parts = parts;
    this.#bucketPath = `/storage/v1/b/${encodeURIComponent(parts.place.bucket)}`;
  }

  async put(key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
    await this.#write("put", key, options, () => this.#insert(key, body, "", options));
  }

  putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists"> {
    return this.#write("put-if-absent", key, options, () => this.#create(key, body, options));
  }

  get(key: string, options: GetOptions = {}): Promise<Uint8Array> {
    return this.#call("get", key, options.signal, () =>
      this.#parts.api.send(
        {
          method: "GET",
          path: `${this.#objectPath(key)}?alt=media`,
          headers: rangeHeader(options),
          signal: options.signal,
        },
        (response) => objectSink(response, key, options),
      ),
    );
  }

  async *list(prefix: string, options?: ListOptions): AsyncGenerator<ObjectInfo> {
    const root = this.#parts.place.prefix;
    for await (const { items } of this.#pages(prefix, "objects", options)) {
      for (const { name, size } of items) {
        options?.signal?.throwIfAborted();
        const key = name.slice(root.length);
        // Others may keep things beside ours, such as the `folder/` objects of the console.
        if (isKey(key) || (options?.everyName && !key.endsWith("/"))) yield { key, size };
      }
    }
  }

  async *folders(prefix: string, options?: CallOptions): AsyncGenerator<string> {
    const skip = this.#parts.place.prefix.length + prefix.length;
    for await (const { prefixes } of this.#pages(prefix, "folders", options)) {
      for (const path of prefixes) {
        options?.signal?.throwIfAborted();
        const name = path.slice(skip);
        if (isKeySegment(name.slice(0, -1))) yield name;
      }
    }
  }

  delete(key: string, options?: CallOptions): Promise<void> {
    return this.#write("delete", key, options, () => this.#remove(key, options));
  }

  location(options?: CallOptions): Promise<string | undefined> {
    return this.#guard("locate", this.url, options?.signal, async () => {
      try {
        return await this.#parts.api.send(
          { method: "GET", path: `${this.#bucketPath}?fields=location`, signal: options?.signal },
          (response) =>
            jsonSink(response, ({ location }) => (typeof location === "string" ? location.toLowerCase() : undefined)),
        );
      } catch (error) {
        // The roles that are enough for objects do not let one look at the bucket.
        if (error instanceof HttpFailure && error.status === 403) return undefined;
        throw error;
      }
    });
  }

  async check(options?: CallOptions): Promise<void> {
    const { api, place, access, endpoint } = this.#parts;
    // Listing needs no more than the permissions on objects that everything else needs too.
    const query = new URLSearchParams({ prefix: place.prefix, maxResults: "1", fields: "items(name),nextPageToken" });
    const call = { method: "GET", path: `${this.#bucketPath}/o?${query.toString()}`, signal: options?.signal } as const;
    await this.#guard("open", this.url, options?.signal, async () => {
      await sendForPage(api, call);
      if (access === "write" && !endpoint.isGoogle) await this.#probe(options);
    });
  }

  /** Creates a name twice: everything rests on the second being refused, which not every emulator does. */
  async #probe(options: CallOptions | undefined): Promise<void> {
    const name = `${asideFolder}/probe-${randomId()}`;
    const create = () => this.#create(name, new Uint8Array(), options);
    const outcomes = [await create(), await create()];
    await this.#remove(name, options);
    // The first may be refused too, where a request was delivered twice on its way.
    if (outcomes[1] === "exists") return;
    throw new OutlastError(
      "OUTLAST_STORE_UNSUITABLE",
      `${this.#parts.endpoint.origin} cannot hold a store: creating an object twice gave "${outcomes.join('", "')}"`,
      {
        operation: "open",
        target: this.url,
        hint: "use a server that honours ifGenerationMatch, such as fake-gcs-server",
      },
    );
  }

  /** The server compares the bytes with the checksum it is told; its answer must be about this very object. */
  async #insert(key: string, bytes: Uint8Array, condition: string, options: CallOptions | undefined): Promise<void> {
    const name = this.#parts.place.prefix + key;
    const { parts, length, contentType, crc32c } = multipartBody(name, bytes);
    await this.#parts.api.send(
      {
        method: "POST",
        path: `/upload${this.#bucketPath}/o?uploadType=multipart&fields=name,crc32c${condition}`,
        headers: { "content-type": contentType, "content-length": length },
        body: parts,
        signal: options?.signal,
      },
      (response) =>
        jsonSink(response, (stored) => {
          if (stored["name"] === name && stored["crc32c"] === crc32c) return;
          throw new ConnectionLost("the answer is about another object than the one that was sent");
        }),
    );
  }

  async #create(key: string, bytes: Uint8Array, options: CallOptions | undefined): Promise<"created" | "exists"> {
    try {
      await this.#insert(key, bytes, "&ifGenerationMatch=0", options);
      return "created";
    } catch (error) {
      if (error instanceof HttpFailure && error.status === 412) return "exists";
      throw error;
    }
  }

  async #remove(key: string, options: CallOptions | undefined): Promise<void> {
    try {
      await this.#parts.api.send(
        { method: "DELETE", path: this.#objectPath(key), signal: options?.signal },
        (response) => jsonSink(response, () => undefined),
      );
    } catch (error) {
      // Gone is what was wanted; a missing bucket is not.
      if (this.#explain(error, "delete", key).code !== "OUTLAST_OBJECT_NOT_FOUND") throw error;
    }
  }

  #objectPath(key: string): string {
    return `${this.#bucketPath}/o/${encodeURIComponent(this.#parts.place.prefix + key)}`;
  }

  async *#pages(prefix: string, what: ListQuery["what"], options: CallOptions | undefined): AsyncGenerator<Page> {
    assertPrefix(prefix);
    const { api, place } = this.#parts;
    const signal = options?.signal;
    signal?.throwIfAborted();
    const query = { bucket: place.bucket, prefix: place.prefix + prefix, what };
    const target = prefix === "" ? this.url : prefix;
    yield* listPages(query, (call) => this.#guard("list", target, signal, () => sendForPage(api, call)), signal);
  }

  #write<T>(operation: string, key: string, options: CallOptions | undefined, act: () => Promise<T>): Promise<T> {
    return this.#call(operation, key, options?.signal, () => {
      if (this.#parts.access === "write") return act();
      throw new OutlastError("OUTLAST_STORE_NOT_WRITABLE", `the store ${this.url} was opened for reading only`, {
        operation,
        target: key,
      });
    });
  }

  async #call<T>(operation: string, key: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    assertKey(key, operation);
    return this.#guard(operation, key, signal, act);
  }

  async #guard<T>(
    operation: string,
    target: string,
    signal: AbortSignal | undefined,
    act: () => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      throw this.#explain(error, operation, target);
    }
  }

  #explain(error: unknown, operation: string, target: string): OutlastError {
    const { place, endpoint, access, clock } = this.#parts;
    return storeError(error, { operation, target, place, endpoint, access, nowMs: clock.now() });
  }
}
