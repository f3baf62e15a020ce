export { formatBytes, parseBytes } from "./bytes.ts";
export { type Clock, systemClock } from "./clock.ts";
export { Deadline } from "./deadline.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export {
  assertNever,
  type ErrorCode,
  type ErrorDetails,
  errorCodes,
  isOutlastError,
  OutlastError,
  type Recovery,
  systemCode,
} from "./errors.ts";
export { Emitter } from "./events.ts";
export { exitCodes, signalExitCode } from "./exit-codes.ts";
export {
  createLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type Severity,
  silentLogger,
} from "./logger.ts";
export { randomId } from "./random-id.ts";
export { type RetryOptions, retry } from "./retry.ts";
