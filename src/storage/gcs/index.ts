export { openBucketStore } from "./open-gcs-store.ts";
