import { readFileSync } from "node:fs";
import type { Clock } from "../../core/index.ts";
import { listProcesses, type ProcessInfo, processTree } from "../detect/index.ts";

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

export interface OrphanOptions {
  /** The program that the note names, if it was written on this boot. */
  readonly child: ChildIdentity | undefined;
  readonly run: string;
  /** The checkpoint directory, as the program was told it. */
  readonly dir: string;
  /** Which shard it was; ranks that only restore may share the directory and are not ours to end. */
  readonly shard: string;
  readonly clock: Clock;
}

const lookMs = 10;
const patienceMs = 5000;

/**
 * Ends what an earlier start, killed outright, left running: two programs must not write to one directory. Found by the note, and by the
 * environment, which is there when the start died before it could note its program, or when a launcher died before the real program. Resolves
 * when they are gone, because a dying process still writes; answers with their number.
 */
export async function endOrphans(options: OrphanOptions): Promise<number> {
  const { clock } = options;
  const killed = new Set<number>();
  const since = clock.monotonic();
  for (let left = findOrphans(options); left.length > 0; left = findOrphans(options)) {
    for (const pid of left) {
      killed.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself meanwhile, or is another user's.
      }
    }
    // One that hangs in the kernel cannot be waited for.
    if (clock.monotonic() - since > patienceMs) break;
    await clock.sleep(lookMs);
  }
  return killed.size;
}

function findOrphans({ child, run, dir, shard }: OrphanOptions): readonly number[] {
  const all = (listProcesses() ?? []).filter(({ state }) => state !== "Z" && state !== "X");
  const isThere = child !== undefined && all.find(({ pid }) => pid === child.pid)?.started === child.started;
  const tree = isThere ? processTree(child.pid, all, new Map()) : [];
  const own = ancestorsOf(process.pid, all);
  const marks = [`OUTLAST_RUN=${run}`, `OUTLAST_CHECKPOINT_DIR=${dir}`, `OUTLAST_ROLE=${shard}`];
  const marked = all.filter(({ pid }) => !own.has(pid) && hasEnvironment(pid, marks));
  return [...new Set([...tree, ...marked].map(({ pid }) => pid))];
}

function ancestorsOf(pid: number, all: readonly ProcessInfo[]): ReadonlySet<number> {
  const parents = new Map(all.map((info) => [info.pid, info.parent]));
  const found = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && !found.has(next); next = parents.get(next))
    found.add(next);
  return found;
}

function hasEnvironment(pid: number, wanted: readonly string[]): boolean {
  try {
    const set = new Set(readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"));
    return wanted.every((entry) => set.has(entry));
  } catch {
    // It ended meanwhile, or is another user's.
    return false;
  }
}
