import { OutlastError } from "../core/index.ts";

/** One thing that is wrong with a file, and where. */
export interface Fault {
  /** A warning is told and nothing more. */
  readonly severity: "error" | "warning";
  /** Counted from 1; undefined where no line is to blame. */
  readonly line: number | undefined;
  readonly message: string;
  readonly hint: string | undefined;
}

const everyKey = "docs/reference/configuration.md and workload.md list every key";

/** Lines as an editor counts them, first things first. */
export function inOrder(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** All faults of a file as one error; of several, each has its hint beside it. */
export function faultsError(path: string, faults: readonly Fault[]): OutlastError {
  const sorted = inOrder(faults);
  const [only] = sorted;
  if (only && sorted.length === 1) {
    const { line, message, hint } = only;
    return new OutlastError("OUTLAST_CONFIG", `${path}${line === undefined ? "" : `:${line}`}: ${message}`, {
      hint: hint ?? everyKey,
    });
  }
  const lines = sorted.map(({ line, message, hint }) => {
    const place = line === undefined ? "" : `line ${line}: `;
    return `\n  ${place}${message}${hint === undefined ? "" : ` (${hint})`}`;
  });
  return new OutlastError("OUTLAST_CONFIG", `${path}:${lines.join("")}`, { hint: everyKey });
}
