import { OutlastError } from "../core/index.ts";
import { type SettingName, settings, variableOf } from "./settings.ts";
import { suggest } from "./suggest.ts";

/** What `outlast run` tells its child through the environment; a nested `outlast` sees these and must not mind. */
export const childVariables: readonly string[] = [
  "OUTLAST_RUN",
  "OUTLAST_ATTEMPT",
  "OUTLAST_CHECKPOINT_DIR",
  "OUTLAST_RESUME_STEP",
  "OUTLAST_RESUME_PATH",
  "OUTLAST_ROLE",
  "OUTLAST_SOCKET",
  "OUTLAST_SAVE_INTERVAL_SECONDS",
  "OUTLAST_SAVE_INTERVAL_STEPS",
];

/** Read by this repository's tests, and by a start below the shell that took its place as PID 1. */
const otherVariables = ["OUTLAST_SOAK", "OUTLAST_NO_SKIP", "OUTLAST_UNDER_INIT"];

/** Kubernetes announces a Service called `outlast…` to every pod of its namespace through such names. */
const serviceLink = /^OUTLAST_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_.*)?)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Refuses `OUTLAST_…` variables that nothing reads: a slip there would otherwise go unnoticed for a whole run. */
export function refuseUnknownVariables(env: Environment): void {
  const own = (Object.keys(settings) as SettingName[]).flatMap((name) => variableOf(name) ?? []);
  const known = new Set([...own, ...childVariables, ...otherVariables]);
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("OUTLAST_") && !known.has(name) && !serviceLink.test(name),
  );
  if (unknown.length === 0) return;
  const near = suggest(unknown[0] ?? "", own);
  throw new OutlastError(
    "OUTLAST_CONFIG",
    `unknown ${unknown.length === 1 ? "variable" : "variables"} ${unknown.join(", ")}`,
    { hint: near ? `did you mean ${near}?` : "unset it; `outlast help run` lists the variables that are read" },
  );
}

/** Whether this process was started by `outlast run`, so that OUTLAST_RUN names its parent's run and not its own. */
export function isInsideRun(env: Environment): boolean {
  return env["OUTLAST_ATTEMPT"] !== undefined;
}
