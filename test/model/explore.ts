/**
 * A stateless model checker for code that meets the world only through an ObjectStore. Every store call of every actor waits until the explorer lets it
 * happen; the explorer tries all orders. A state is the store's content plus what each actor has been answered so far (an actor's memory
 * is a function of that), so orders that lead to the same state are followed once.
 */
import { Execution, type Scenario } from "./execution.ts";
import { areIndependent, type Call } from "./gated-store.ts";

export interface Limits {
  readonly states: number;
  readonly ms: number;
  /** Calls in one schedule. @default 400 */
  readonly depth?: number;
  /** How many log records, in one schedule, may be created and yet answered with an error. @default 0 */
  readonly lostReplies?: number;
  /** Whether to leave out orders that cannot differ; without, only equal states are merged. @default true */
  readonly reduce?: boolean;
}

export interface Explored {
  readonly states: number;
  readonly schedules: number;
  /** Whether every interleaving was followed; false when a limit came first. */
  readonly complete: boolean;
  readonly deepest: number;
}

/** A point of the current schedule: what is to be tried there, and what need not be because an equivalent order was tried before. */
interface Frame {
  readonly options: readonly Call[];
  readonly asleep: readonly Call[];
  tried: number;
}

/**
 * Tries every interleaving of the scenario's store calls, within limits. Orders that differ only in neighbouring calls that
 * commute are tried once (sleep sets, kept with the visited states so that both reductions together stay complete).
 */
export async function explore(makeScenario: () => Scenario, limits: Limits): Promise<Explored> {
  const visited = new Map<string, ReadonlySet<string>>();
  const started = performance.now();
  const { depth: maxDepth = 400, lostReplies = 0, reduce = true } = limits;
  const path: Frame[] = [];
  let schedules = 0;
  let complete = true;
  let deepest = 0;
  for (;;) {
    const run = new Execution(makeScenario(), lostReplies);
    await run.settle();
    for (const frame of path) await run.step(run.find(frame.options[frame.tried] as Call), frame === path.at(-1));
    schedules += 1;
    while (path.length < maxDepth) {
      const frame = nextFrame(run, path.at(-1), visited, reduce);
      if (!frame) break;
      path.push(frame);
      await run.step(frame.options[0] as Call, true);
    }
    if (path.length >= maxDepth) complete = false;
    deepest = Math.max(deepest, path.length);
    for (let last = path.at(-1); last && last.tried + 1 >= last.options.length; last = path.at(-1)) path.pop();
    const last = path.at(-1);
    if (!last) break;
    last.tried += 1;
    if (visited.size >= limits.states || performance.now() - started > limits.ms) {
      complete = false;
      break;
    }
  }
  return { states: visited.size, schedules, complete, deepest };
}

/** What to try in the state the run is in; undefined when it is an end or all that can follow was tried. */
function nextFrame(
  run: Execution,
  before: Frame | undefined,
  visited: Map<string, ReadonlySet<string>>,
  reduce: boolean,
): Frame | undefined {
  const enabled = run.enabled();
  if (enabled.length === 0) {
    run.checkEnd();
    return undefined;
  }
  const asleep = before && reduce ? sleepAfter(before) : [];
  const isAsleep = (call: Call) => asleep.some((other) => other.id === call.id);
  // A call whose answer nothing can change any more commutes with everything: one order is enough.
  const settled = reduce ? enabled.find((call) => run.isSettled(call)) : undefined;
  if (settled) return isAsleep(settled) ? undefined : { options: [settled], asleep, tried: 0 };
  const key = run.store.fingerprint();
  const skipped = visited.get(key);
  if (!skipped) {
    visited.set(key, new Set(asleep.map((call) => call.id)));
    const options = enabled.filter((call) => !isAsleep(call));
    return options.length > 0 ? { options, asleep, tried: 0 } : undefined;
  }
  // Seen before: only what was left out then and may not be left out now remains to be tried.
  const options = enabled.filter((call) => skipped.has(call.id) && !isAsleep(call));
  const both = asleep.filter((call) => skipped.has(call.id));
  visited.set(key, new Set(both.map((call) => call.id)));
  return options.length > 0 ? { options, asleep: both, tried: 0 } : undefined;
}

/** Calls that need not come right after the one just tried: trying them first, then this one, was or will be done elsewhere. */
function sleepAfter(frame: Frame): Call[] {
  const tried = frame.options[frame.tried] as Call;
  return [...frame.asleep, ...frame.options.slice(0, frame.tried)].filter((call) => areIndependent(call, tried));
}
