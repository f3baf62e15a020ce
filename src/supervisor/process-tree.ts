import { readdirSync, readFileSync } from "node:fs";
import { systemCode } from "../core/index.ts";

/** One process as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** R, S, D, T, Z … */
  readonly state: string;
  /** Clock ticks after boot; with the pid it names a process for good. */
  readonly startTime: string;
}

/** How processes that belong to a child are told from everybody else's. */
export interface Kinship {
  /** The main child. */
  readonly pid: number;
  /** Its start time: once its number has gone to somebody else, descent from it proves nothing. Undefined where there is no /proc. */
  readonly startTime: string | undefined;
  /** Its session, when it was given one of its own; survives the death of the parent in between. */
  readonly session: number | undefined;
  /** A `NAME=value` that only this child's descendants have in their environment. */
  readonly marker: string | undefined;
}

/** Every process visible here; empty where there is no /proc. */
export function listProcesses(): readonly ProcessInfo[] {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    // Not Linux: callers fall back to the process group.
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((info) => info !== undefined);
}

/** One process, or undefined when it is gone. */
export function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0] ?? "?",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: fields[19] ?? "",
  };
}

/** The child's living relatives without the child itself: by descent, by session or by marker; never this process. */
export function findKin(kinship: Kinship, processes: readonly ProcessInfo[] = listProcesses()): readonly ProcessInfo[] {
  const main = processes.find((info) => info.pid === kinship.pid);
  const kin = new Set<number>(main !== undefined && main.startTime === kinship.startTime ? [kinship.pid] : []);
  for (const info of processes) {
    if (info.pid === process.pid || info.state === "Z") continue;
    if (kinship.session !== undefined && info.session === kinship.session) kin.add(info.pid);
    else if (kinship.marker !== undefined && hasInEnvironment(info.pid, kinship.marker)) kin.add(info.pid);
  }
  for (let grew = true; grew; ) {
    grew = false;
    for (const info of processes) {
      if (!kin.has(info.pid) && kin.has(info.parent) && info.pid !== process.pid) {
        kin.add(info.pid);
        grew = true;
      }
    }
  }
  return processes.filter((info) => kin.has(info.pid) && info.pid !== kinship.pid && info.state !== "Z");
}

/** Whether that very process (not another one with its number) still runs. */
export function isRunning(info: ProcessInfo): boolean {
  const now = readProcess(info.pid);
  return now !== undefined && now.startTime === info.startTime && now.state !== "Z";
}

/** Dead children of `parent` that nobody has waited for. */
export function countZombies(parent: number): number {
  return listProcesses().filter((info) => info.parent === parent && info.state === "Z").length;
}

/** Sends a signal; false when the process is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (systemCode(error) === "ESRCH" || systemCode(error) === "EPERM") return false;
    throw error;
  }
}

function hasInEnvironment(pid: number, marker: string): boolean {
  return readProcFile(`/proc/${pid}/environ`)?.split("\0").includes(marker) ?? false;
}

function readProcFile(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Gone meanwhile, or another user's.
    return undefined;
  }
}
