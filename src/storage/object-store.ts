/** Options every storage call takes. */
export interface CallOptions {
  /** Ends the call early; what a cut-off write left behind is never visible as an object. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link ObjectStore.get}. */
export interface GetOptions extends CallOptions {
  /** Read only these bytes. A range that ends past the object gives what is there. */
  readonly range?: { readonly offset: number; readonly length: number } | undefined;
  /** A buffer to read into; the result is then a view of its beginning. Must be large enough. */
  readonly into?: Uint8Array | undefined;
}

/** Options of {@link ObjectStore.list}. */
export interface ListOptions extends CallOptions {
  /** In a bucket: objects of other programs too, whose names may hold anything. @default false: only names that can be keys */
  readonly everyName?: boolean | undefined;
}

/** What a listing says of an object. */
export interface ObjectInfo {
  readonly key: string;
  readonly size: number;
}

/**
 * A flat, durable key-value store for bytes: the one contract over a directory, GCS and S3.
 *
 * - An object is visible whole or not at all.
 * - When a write resolves, the object is durable (directory: fsynced, its directory entry too).
 * - A read, list or conditional write that starts after a write resolved sees that write.
 * - Failures are `OutlastError`s: `OUTLAST_OBJECT_NOT_FOUND` when a read finds nothing, and `recovery: "retry"` on
 *   whatever may pass.
 *
 * Keys are `/`-separated segments of `A-Z a-z 0-9 . _ -`, none of them `.`, `..` or empty, at most 512 bytes.
 */
export interface ObjectStore {
  /** The location as given by the user, free of secrets; `openStore(url)` in another thread opens the same store. */
  readonly url: string;
  /** Writes an object, replacing one of that key. */
  put(key: string, body: Uint8Array, options?: CallOptions): Promise<void>;
  /** Writes an object only if there is none of that key. Of any number of racing calls exactly one creates it. */
  putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists">;
  /** Reads an object or a part of it. */
  get(key: string, options?: GetOptions): Promise<Uint8Array>;
  /** All objects whose key starts with `prefix`, in ascending order of their keys. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;
  /**
   * The names directly below `prefix` (empty, or ending in `/`) that hold objects, each ending in `/`, in ascending order:
   * one step costs the same however many objects lie below.
   */
  folders(prefix: string, options?: CallOptions): AsyncIterable<string>;
  /** Deletes an object; one that is not there is no error. */
  delete(key: string, options?: CallOptions): Promise<void>;
}

/** A store in a bucket of a cloud provider. */
export interface BucketStore extends ObjectStore {
  /**
   * Where the bucket's data is: a region (`us-central1`), a dual- or multi-region (`nam4`, `us`), in lower case; undefined
   * when the server does not say or we may not ask.
   */
  location(options?: CallOptions): Promise<string | undefined>;
  /** One cheap request that shows whether the bucket is there and these credentials may use it; throws when not. */
  check(options?: CallOptions): Promise<void>;
}
