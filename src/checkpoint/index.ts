export { type CommitHistory, type CommitRecord, listRuns, readCommitHistory } from "./commit-history.ts";
export { type CopyOptions, type CopyReport, copyCheckpoints, type LeftOut } from "./inspect/copy.ts";
export { type CheckpointInfo, type CheckpointList, listCheckpoints } from "./inspect/list.ts";
export { type PruneReport, pinCheckpoint, pruneCheckpoints } from "./inspect/prune.ts";
export { type PullOptions, pullCheckpoint } from "./inspect/pull.ts";
export { type Fault, type VerifiedCheckpoint, type VerifyOptions, verifyCheckpoints } from "./inspect/verify.ts";
export { checkRunName, openRun, type RunStore } from "./run-store.ts";
export { createSession, type SessionOptions } from "./session/index.ts";
export type {
  Beginning,
  CheckpointSession,
  FinishOptions,
  FinishReport,
  Resume,
  SessionEvents,
} from "./session-types.ts";
export { createTransfer, type Transfer, type TransferProgress } from "./transfer/index.ts";
