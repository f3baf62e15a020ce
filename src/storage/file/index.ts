export { FileStore } from "./file-store.ts";
export { type FileStoreOptions, openFileStore } from "./open-file-store.ts";
