import type { Path } from "../../documents.ts";
import type { RawWorkload } from "../raw.ts";
import type { Workload } from "../types.ts";

/** A contradiction or a doubt about one workload, and the key to blame. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

/** Looks at one workload for one kind of trouble. */
export type Check = (workload: Workload, raw: RawWorkload) => readonly Finding[];

export function error(path: Path, message: string, hint: string): Finding {
  return { severity: "error", path, message, hint };
}

export function warning(path: Path, message: string, hint: string): Finding {
  return { severity: "warning", path, message, hint };
}
