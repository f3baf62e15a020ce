import { listProcesses, processTree } from "../detect/index.ts";

/** A child as the note names it: a pid alone may have been given to another program since. */
export interface ChildIdentity {
  readonly pid: number;
  /** Its start time in ticks since boot. */
  readonly started: number;
}

/** What names a running process for ever; undefined where /proc does not say. */
export function identify(pid: number): ChildIdentity | undefined {
  const info = listProcesses()?.find((process) => process.pid === pid);
  return info && { pid, started: info.started };
}

/**
 * Ends the program of an earlier start that outlived its supervisor (which was killed outright): two programs must not write to one
 * directory. Answers with the number of processes killed.
 */
export function endOrphan(child: ChildIdentity | undefined): number {
  const all = child && listProcesses();
  if (!all || all.find((process) => process.pid === child.pid)?.started !== child.started) return 0;
  let killed = 0;
  for (const { pid } of processTree(child.pid, all, new Map())) {
    try {
      process.kill(pid, "SIGKILL");
      killed += 1;
    } catch {
      // It ended by itself meanwhile.
    }
  }
  return killed;
}
