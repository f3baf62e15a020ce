import type { S3Client } from "@aws-sdk/client-s3";
import { OutlastError } from "../../core/index.ts";
import type { BucketUrl } from "../bucket-url.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import type { BucketStore, CallOptions, GetOptions, ListOptions, ObjectInfo } from "../object-store.ts";
import { bucketLocation } from "./bucket-location.ts";
import { checkBucket } from "./check-bucket.ts";
import { deleteObject } from "./delete-object.ts";
import { getObject } from "./get-object.ts";
import { listFolders, listObjects } from "./list-objects.ts";
import { createObject, putObject } from "./put-object.ts";
import { S3Caller } from "./s3-caller.ts";

/** Objects in a bucket of Amazon S3, or of a server that speaks its protocol and honours `If-None-Match`. */
export class S3Store implements BucketStore {
  readonly url: string;
  readonly #access: "read" | "write";
  readonly #caller: S3Caller;

  /** Use `openBucketStore`. */
  constructor(
    place: BucketUrl,
    access: "read" | "write",
    endpoint: string | undefined,
    create: () => Promise<S3Client>,
  ) {
    this.url = place.url;
    this.#access = access;
    this.#caller = new S3Caller(place, endpoint, create);
  }

  async put(key: string, body: Uint8Array, options?: CallOptions): Promise<void> {
    this.#enterWrite("put", key, options);
    await putObject(this.#caller, key, body, options);
  }

  async putIfAbsent(key: string, body: Uint8Array, options?: CallOptions): Promise<"created" | "exists"> {
    this.#enterWrite("put-if-absent", key, options);
    return createObject(this.#caller, key, body, options);
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array> {
    assertKey(key, "get");
    return getObject(this.#caller, key, options);
  }

  async *list(prefix: string, options?: ListOptions): AsyncGenerator<ObjectInfo> {
    assertPrefix(prefix);
    yield* listObjects(this.#caller, prefix, options);
  }

  async *folders(prefix: string, options?: CallOptions): AsyncGenerator<string> {
    assertPrefix(prefix);
    yield* listFolders(this.#caller, prefix, options);
  }

  async delete(key: string, options?: CallOptions): Promise<void> {
    this.#enterWrite("delete", key, options);
    await deleteObject(this.#caller, key, options);
  }

  location(options?: CallOptions): Promise<string | undefined> {
    return bucketLocation(this.#caller, options);
  }

  check(options?: CallOptions): Promise<void> {
    return checkBucket(this.#caller, this.#access, options);
  }

  #enterWrite(operation: string, key: string, options: CallOptions | undefined): void {
    assertKey(key, operation);
    options?.signal?.throwIfAborted();
    if (this.#access === "write") return;
    throw new OutlastError("OUTLAST_STORE_NOT_WRITABLE", `the store ${this.url} was opened for reading only`, {
      operation,
      target: key,
    });
  }
}
