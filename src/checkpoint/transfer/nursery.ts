import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../../core/index.ts";

type Collect = (options: { readonly type: "minor"; readonly execution: "sync" }) => void;

/** A few megabytes arrive in this time. */
const everyMs = 4;

let underWay = 0;
let collect: Collect | undefined | null = null;

/**
 * Waits for a read from the network and frees this thread's short-lived memory every few milliseconds meanwhile. Node gives all bytes that arrive a
 * new buffer each; the engine sees only the small objects in front of them and would let a hundred megabytes pile up before it looks.
 */
export async function withSmallNursery<T>(read: Promise<T>): Promise<T> {
  underWay += 1;
  if (underWay === 1) void emptyNow();
  try {
    return await read;
  } finally {
    underWay -= 1;
  }
}

async function emptyNow(): Promise<void> {
  collect = collect === null ? findCollector() : collect;
  while (underWay > 0 && collect) {
    await systemClock.sleep(everyMs);
    collect({ type: "minor", execution: "sync" });
  }
}

function findCollector(): Collect | undefined {
  try {
    // The flag is the process's, but only contexts made after it have the function.
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc") as Collect;
  } catch {
    // An engine without it only needs more memory.
    return undefined;
  }
}
