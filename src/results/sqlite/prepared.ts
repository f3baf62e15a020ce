import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** A statement and how its values are bound. */
export interface Prepared {
  readonly statement: StatementSync;
  readonly bind: (values: readonly SQLInputValue[]) => readonly SQLInputValue[];
}

const asGiven = (values: readonly SQLInputValue[]) => values;

/**
 * Prepares a statement whose parameters are `?`, or numbered (`?2`) where one is used twice or out of order. Node 22 takes numbered
 * ones for named ones and binds none of them by position, so they are put in order here, once.
 */
export function prepareStatement(db: DatabaseSync, sql: string): Prepared {
  const order = [...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]) - 1);
  if (order.length === 0) return { statement: db.prepare(sql), bind: asGiven };
  return {
    statement: db.prepare(sql.replaceAll(/\?\d+/g, "?")),
    bind: (values) => order.map((index) => values[index] ?? null),
  };
}
