import { OutlastError } from "../core/index.ts";
import { deriveRunName, readRunName, type Values } from "../spec/index.ts";
import type { Io } from "./io.ts";

/** Which run, and which part of it, a start is. */
export interface RunIdentity {
  readonly run: string;
  readonly shard: number;
  readonly of: number;
  /** Whether the name was made up from directory and command. */
  readonly derived: boolean;
}

/** Decides the run's name; refuses to guess where a guess could change from pod to pod. */
export function identifyRun(values: Values, command: readonly string[], io: Pick<Io, "env" | "cwd">): RunIdentity {
  const derived = values.run === undefined;
  if (derived && io.env["KUBERNETES_SERVICE_HOST"] !== undefined) {
    throw new OutlastError("OUTLAST_USAGE", "--run is required inside Kubernetes", {
      hint: "give the run a name that stays the same from pod to pod, such as the Job's: a name that changes would start at step 0",
    });
  }
  const base = values.run ?? deriveRunName(values.dir ?? "", command, io.cwd);
  const run = values.perIndex ? readRunName(`${base}-${completionIndex(io)}`, "the run's name with its index") : base;
  return { run, shard: values.shard?.index ?? 0, of: values.shard?.of ?? 1, derived };
}

function completionIndex(io: Pick<Io, "env">): string {
  const index = io.env["JOB_COMPLETION_INDEX"];
  if (index !== undefined && /^\d+$/.test(index)) return index;
  const seen = index === undefined ? "is not set" : `is "${index}"`;
  throw new OutlastError("OUTLAST_USAGE", `--per-index needs JOB_COMPLETION_INDEX, which ${seen}`, {
    hint: "make the Job Indexed (completionMode: Indexed), or set the variable to this process's number",
  });
}
