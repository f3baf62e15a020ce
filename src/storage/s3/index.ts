import type { BucketUrl } from "../bucket-url.ts";
import type { BucketStore } from "../object-store.ts";
import { createS3Client, endpointOf } from "./s3-client.ts";
import { S3Store } from "./s3-store.ts";

/** Opens a bucket; asks nothing of it yet. */
export function openBucketStore(place: BucketUrl, options: { readonly access: "read" | "write" }): BucketStore {
  const endpoint = endpointOf(place, process.env);
  return new S3Store(place, options.access, endpoint, () => createS3Client(place, endpoint));
}
