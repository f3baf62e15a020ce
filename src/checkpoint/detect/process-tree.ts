import { readdirSync, readFileSync } from "node:fs";

/** One process as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** R, S, D, T, Z … as /proc gives it. */
  readonly state: string;
  /** Start time in ticks; with the pid it names one process for ever. */
  readonly started: number;
}

/** Every process there is; undefined where there is no /proc. */
export function listProcesses(): readonly ProcessInfo[] | undefined {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    // No /proc (macOS): the caller reports "unknown".
    return undefined;
  }
  const found: ProcessInfo[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const info = readProcess(Number(name));
    if (info) found.push(info);
  }
  return found.length > 0 ? found : undefined;
}

/**
 * A program's processes: the descendants of `root`, everything in its process group or session (whoever adopted them), and those known
 * from an earlier look. `known` is updated.
 */
export function processTree(
  root: number,
  all: readonly ProcessInfo[],
  known: Map<number, number>,
): readonly ProcessInfo[] {
  const byPid = new Map(all.map((info) => [info.pid, info]));
  for (const [pid, started] of known) if (byPid.get(pid)?.started !== started) known.delete(pid);
  const members = new Set<number>([root, ...known.keys()]);
  const self = process.pid;
  for (let grown = true; grown; ) {
    grown = false;
    for (const info of all) {
      if (members.has(info.pid) || info.pid === self) continue;
      // A group or session counts only when `root` leads it: a shared one is the supervisor's own.
      if (members.has(info.parent) || info.group === root || info.session === root) {
        members.add(info.pid);
        grown = true;
      }
    }
  }
  const tree = [...members].flatMap((pid) => byPid.get(pid) ?? []);
  for (const info of tree) known.set(info.pid, info.started);
  return tree;
}

function readProcess(pid: number): ProcessInfo | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // It ended since the listing.
    return undefined;
  }
  // The command name stands in parentheses and may hold anything, parentheses too.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    state: fields[0] ?? "?",
    started: Number(fields[19]),
  };
}
