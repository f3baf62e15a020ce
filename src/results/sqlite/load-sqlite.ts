import type * as Sqlite from "node:sqlite";

/** Loads Node's own SQLite, without the line that older Nodes print about its being experimental. Other warnings stay. */
export function loadSqlite(): typeof Sqlite {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on process, and put back as it was.
  const emit = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === "string" ? warning : warning.message;
    if (/SQLite is an experimental feature/.test(text)) return;
    Reflect.apply(emit, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emit;
  }
}
