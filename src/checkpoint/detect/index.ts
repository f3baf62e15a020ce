export {
  accelerate,
  createDcp,
  createGeneric,
  createUserPattern,
  frameworks,
  huggingFace,
  lightning,
  orbax,
  singleFile,
} from "./conventions/index.ts";
export { createDetector, type DetectorOptions } from "./detector.ts";
export { fingerprint } from "./fingerprint.ts";
export { createOpenFilesLook, type LookAtOpenFiles, type OpenFiles } from "./open-files.ts";
export { listProcesses, type ProcessInfo, processTree } from "./process-tree.ts";
export { quietTimes } from "./quiet-time.ts";
export { ownFolder, scanDirectory } from "./scan.ts";
export type {
  Candidate,
  CandidateState,
  CompleteCheckpoint,
  Convention,
  Detector,
  Pointer,
  ReadSmall,
  Scan,
  ScanEntry,
  WriterState,
} from "./types.ts";
