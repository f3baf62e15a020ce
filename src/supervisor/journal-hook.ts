import type { Clock, Deadline } from "../core/index.ts";
import { type JournalStore, JournalWriter } from "./journal.ts";
import type { SuperviseJournalEvent, SuperviseOptions } from "./supervise-types.ts";

/** What the journal holds besides what the supervisor tells. */
export interface JournalFacts {
  readonly store: JournalStore;
  readonly clock: Clock;
  readonly host: string;
  readonly shard: number;
  readonly of: number;
  /** Secrets already taken out. */
  readonly command: readonly string[];
  readonly version: string;
  readonly onFailure: (error: unknown) => void;
}

/** A hook for `supervise` that writes the journal; only the last record is waited for, and only until its deadline. */
export function journalHook(facts: JournalFacts): NonNullable<SuperviseOptions["onJournal"]> {
  let writer: JournalWriter | undefined;
  return (event: SuperviseJournalEvent, deadline: Deadline | undefined) => {
    if (event.event === "start") {
      const { epoch, ...start } = event;
      const { host, shard, of, command, version } = facts;
      writer = new JournalWriter({ store: facts.store, epoch, clock: facts.clock, onFailure: facts.onFailure });
      writer.record({ ...start, host, shard, of, command, version });
      return undefined;
    }
    writer?.record(event);
    return event.event === "exit" ? writer?.close(deadline) : undefined;
  };
}
