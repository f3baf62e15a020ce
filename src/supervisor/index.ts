export type { ChildEnd, StopScope } from "./child.ts";
export {
  type AttemptTime,
  type JournalEvent,
  type JournalOptions,
  type JournalRecord,
  type JournalStore,
  JournalWriter,
  type Verdict,
} from "./journal.ts";
export { type JournalFacts, journalHook } from "./journal-hook.ts";
export { handOverPidOne, isMainProcess } from "./pid-one.ts";
export { type JournalEntry, type JournalSource, readJournal } from "./read-journal.ts";
export { redactCommand } from "./redact.ts";
export { type AttemptStatus, type CommitSeen, type RunStatus, summarizeRun } from "./status.ts";
export type { StepsSeen } from "./step-meter.ts";
export type { StateChange, SupervisorState } from "./stop-machine.ts";
export { supervise } from "./supervise.ts";
export type {
  SuperviseEvents,
  SuperviseJournalEvent,
  SuperviseOptions,
  SuperviseResult,
  Supervision,
} from "./supervise-types.ts";
export type { StopCause } from "./verdict.ts";
