export { directFolder } from "./direct-folder.ts";
export { FolderObjects } from "./file/folder-objects.ts";
export { isKey } from "./keys.ts";
export { MemoryStore } from "./memory/memory-store.ts";
export type { CallOptions, GetOptions, ObjectInfo, ObjectStore } from "./object-store.ts";
export { type OpenStoreOptions, openStore } from "./open-store.ts";
export { type Fault, type FaultPlan, type FaultyStore, faultAt, type StoreCall, withFaults } from "./with-faults.ts";
export { withLimit } from "./with-limit.ts";
export { withRetry } from "./with-retry.ts";
