export type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "./object-store.ts";
