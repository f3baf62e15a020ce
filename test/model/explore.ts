/**
 * A stateless model checker for code that meets the world only through an ObjectStore. Every store call of every actor waits until the explorer lets it
 * happen; the explorer tries all orders. A state is the store's content plus what each actor has been answered so far (an actor's memory
 * is a function of that), so orders that lead to the same state are followed once.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../src/core/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { areIndependent, type Call, GatedStore } from "./gated-store.ts";

export interface World {
  /** The content of the store, for invariants and setups. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

export interface Actor {
  readonly name: string;
  /** The actor's program; `newId` gives ids that depend on the actor only, and the clock's sleep lasts until the log has grown. */
  run(store: ObjectStore, newId: () => string, clock: Clock): Promise<unknown>;
}

export interface Scenario {
  /** Content before the actors begin. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly actors: readonly Actor[];
  /** Throws if the store may never look like this. Checked after every call. */
  invariant(world: World): void;
  /** Throws if the actors may not end like this; called when none has a call left. */
  end?(world: World, outcomes: ReadonlyMap<string, Outcome>): void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export interface Limits {
  readonly states: number;
  readonly ms: number;
  /** Calls in one schedule. @default 400 */
  readonly depth?: number;
}

export interface Explored {
  readonly states: number;
  readonly schedules: number;
  /** Whether every interleaving was followed; false when a limit came first. */
  readonly complete: boolean;
  readonly deepest: number;
}

/** A schedule that broke an invariant, as a list of calls. */
export class Violation extends Error {
  constructor(cause: unknown, trace: readonly string[]) {
    super(
      `${cause instanceof Error ? cause.message : String(cause)}\n  schedule:\n${trace.map((line) => `    ${line}`).join("\n")}`,
      { cause },
    );
  }
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
  const maxDepth = limits.depth ?? 400;
  const path: Frame[] = [];
  let schedules = 0;
  let complete = true;
  let deepest = 0;
  for (;;) {
    const run = new Execution(makeScenario());
    await run.settle();
    for (const frame of path) await run.step(run.find(frame.options[frame.tried] as Call), frame === path.at(-1));
    schedules += 1;
    while (path.length < maxDepth) {
      const frame = nextFrame(run, path.at(-1), visited);
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
): Frame | undefined {
  const enabled = run.enabled();
  if (enabled.length === 0) {
    run.checkEnd();
    return undefined;
  }
  const asleep = before ? sleepAfter(before) : [];
  const isAsleep = (call: Call) => asleep.some((other) => other.id === call.id);
  // A call whose answer nothing can change any more commutes with everything: one order is enough.
  const settled = enabled.find((call) => run.store.isSettled(call));
  if (settled) return isAsleep(settled) ? undefined : { options: [settled], asleep, tried: 0 };
  const key = run.store.fingerprint();
  const skipped = visited.get(key);
  const sleeping = new Set(asleep.map((call) => call.id));
  visited.set(key, skipped ? skipped.intersection(sleeping) : sleeping);
  const options = enabled.filter((call) => !isAsleep(call) && (!skipped || skipped.has(call.id)));
  return options.length > 0 ? { options, asleep, tried: 0 } : undefined;
}

/** Calls that need not come right after the one just tried: trying them first, then this one, was or will be done elsewhere. */
function sleepAfter(frame: Frame): Call[] {
  const tried = frame.options[frame.tried] as Call;
  return [...frame.asleep, ...frame.options.slice(0, frame.tried)].filter((call) => areIndependent(call, tried));
}

/** One run of the scenario from its beginning. */
class Execution {
  readonly store: GatedStore;
  readonly #scenario: Scenario;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #trace: string[] = [];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.store = new GatedStore(scenario.objects);
    for (const actor of scenario.actors) {
      let ids = 0;
      const newId = () =>
        createHash("sha256")
          .update(`${actor.name} ${(ids += 1)}`)
          .digest("hex")
          .slice(0, 32);
      actor.run(this.store.view(actor.name), newId, this.store.clock(actor.name)).then(
        (value) => this.#outcomes.set(actor.name, { value }),
        (error: unknown) => this.#outcomes.set(actor.name, { error }),
      );
    }
  }

  enabled(): readonly Call[] {
    return this.store.pending();
  }

  /** The waiting call that is the same as one of another run. */
  find(call: Call): Call {
    const found = this.store.pending().find((other) => other.id === call.id);
    if (!found) throw new Error(`schedule cannot be repeated: no ${call.id} (${call.op} ${call.key})`);
    return found;
  }

  async step(call: Call, isNew: boolean): Promise<void> {
    const answer = this.store.perform(call);
    this.#trace.push(`${call.actor}: ${call.op} ${call.key} → ${answer}`);
    try {
      if (call.isWrite && isNew) this.#scenario.invariant({ objects: this.store.objects });
    } catch (error) {
      throw new Violation(error, this.#trace);
    }
    await this.settle(call);
  }

  /** Lets the actors run until each waits for a call or has ended: the one just answered has then made its next call, or goes no further. */
  async settle(answered?: Call): Promise<void> {
    if (!answered) {
      await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    const made = this.store.made(answered.actor);
    let turns = 0;
    for (; turns < 100 && this.store.made(answered.actor) === made && !this.#outcomes.has(answered.actor); turns += 1)
      await null;
    for (turns = 0; turns < 10; turns += 1) await null;
  }

  checkEnd(): void {
    try {
      this.#scenario.end?.({ objects: this.store.objects }, this.#outcomes);
    } catch (error) {
      throw new Violation(error, this.#trace);
    }
  }
}
