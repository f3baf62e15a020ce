import type { CheckpointSession } from "../session-types.ts";
import { RestoreOnlySession } from "./restore-only-session.ts";
import { Session } from "./session.ts";
import type { SessionOptions } from "./session-options.ts";

export type { SessionOptions } from "./session-options.ts";

/** The checkpoint side of one start of a run. */
export function createSession(options: SessionOptions): CheckpointSession {
  return options.restoreOnly ? new RestoreOnlySession(options) : new Session(options);
}
