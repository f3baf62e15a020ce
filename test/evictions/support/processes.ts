import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Processes for which a test on /proc's files holds; ended ones do not count. */
export function findProcesses(
  test: (read: (file: "environ" | "cmdline") => readonly string[]) => boolean,
): readonly number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((pid) => {
    try {
      return isAlive(pid) && test((file) => readFileSync(`/proc/${pid}/${file}`, "latin1").split("\0"));
    } catch {
      // Gone meanwhile.
      return false;
    }
  });
}

/** Sends a signal; false when the process is gone. */
export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
    return false;
  }
}

/** Whether a process runs (a zombie does not). */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    // No such process.
    return false;
  }
}

/** Waits for something that must come about; fails, saying what, when it does not. */
export async function until(what: string, test: () => boolean, limitMs = 20_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!test()) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(15);
  }
}

/** All processes below one, by /proc. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // Gone meanwhile.
    }
  }
  const found = [pid];
  for (const next of found) for (const [child, parent] of parents) if (parent === next) found.push(child);
  return found.slice(1);
}
