export { createSession, createTransfer, type SessionOptions } from "./checkpoint/index.ts";
export {
  type Clock,
  createLogger,
  Deadline,
  type ErrorCode,
  errorCodes,
  exitCodes,
  isOutlastError,
  type Logger,
  OutlastError,
  systemClock,
} from "./core/index.ts";
export {
  createEndTimeSource,
  createMetadataSource,
  createSignalSource,
  type Notice,
  type NoticeSource,
} from "./notice/index.ts";
export { type ObjectStore, openStore } from "./storage/index.ts";
export { type SuperviseOptions, type SuperviseResult, type Supervision, supervise } from "./supervisor/index.ts";
