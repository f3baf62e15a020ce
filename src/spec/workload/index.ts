export type { Fault } from "../faults.ts";
export { leastVersions } from "./gke-version.ts";
export { acceleratorMachines, findAccelerator } from "./machines.ts";
export { type ParsedWorkloads, parseWorkloads } from "./parse.ts";
export { describeKeys } from "./schema.ts";
export type { Capacity, EnvValue, PvcStorage, SecretRef, Storage, Taint, Workload, WorkloadKind } from "./types.ts";
