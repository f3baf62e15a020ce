export { parseEndTime, readAnnotation } from "./end-time.ts";
export {
  createEndTimeFileSource,
  createEndTimeSource,
  type EndTimeFileOptions,
  stopAtAnnotation,
} from "./end-time-source.ts";
export { askMachineRegion, type MachineRegionOptions } from "./machine-region.ts";
export { createManualSource, type ManualSource } from "./manual-source.ts";
export { createMetadataSource, isOnComputeEngine, type MetadataSourceOptions } from "./metadata-source.ts";
export {
  createSignalSource,
  type SignalSource,
  type SignalSourceOptions,
  type StopRequestSignal,
} from "./signal-source.ts";
export type { Notice, NoticeKind, NoticeSource, NoticeWarning } from "./types.ts";
