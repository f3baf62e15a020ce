import { createHash } from "node:crypto";
import type { Clock } from "../../src/core/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { type Call, GatedStore } from "./gated-store.ts";

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
  /**
   * Prefixes below the run that no actor lists or deletes from, and whose objects are written once: putting one, or getting one that is there, then commutes
   * with everything, and one order is enough. Only to make the search smaller.
   */
  readonly quiet?: readonly string[];
  /** Throws if the store may never look like this. Checked after every write; `isAddition`: of an object that was not there, by a plain put. */
  invariant(world: World, isAddition: boolean): void;
  /** Throws if the actors may not end like this; called when none has a call left that can happen. `waiting`: actors that sleep for ever then. */
  end(world: World, outcomes: ReadonlyMap<string, Outcome>, waiting: readonly string[]): void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A schedule that broke an invariant, as a list of calls. */
export class Violation extends Error {
  constructor(cause: unknown, trace: readonly string[]) {
    super(
      `${cause instanceof Error ? cause.message : String(cause)}\n  schedule:\n${trace.map((line) => `    ${line}`).join("\n")}`,
      { cause },
    );
  }
}

/** One run of the scenario from its beginning. */
export class Execution {
  readonly store: GatedStore;
  readonly #scenario: Scenario;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #trace: string[] = [];

  constructor(scenario: Scenario, lostReplies: number) {
    this.#scenario = scenario;
    this.store = new GatedStore(scenario.objects, lostReplies);
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

  /** Whether it makes no difference when this call happens. */
  isSettled(call: Call): boolean {
    return this.store.isSettled(call, this.#scenario.quiet ?? []);
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
      if (call.isWrite && isNew) this.#scenario.invariant({ objects: this.store.objects }, answer === "new");
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
    const { actor } = answered;
    const made = this.store.made(actor);
    const turn = Promise.resolve();
    let turns = 0;
    for (; turns < 100 && this.store.made(actor) === made && !this.#outcomes.has(actor); turns += 1) await turn;
    for (turns = 0; turns < 10; turns += 1) await turn;
    // More turns than anybody needs went by, and yet it neither asks nor has ended: give it all the turns there are.
    for (turns = 0; !this.store.hasCall(actor) && !this.#outcomes.has(actor); turns += 1) {
      if (turns > 100) throw new Violation(`${actor} neither asks nor ends`, this.#trace);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  checkEnd(): void {
    try {
      this.#scenario.end({ objects: this.store.objects }, this.#outcomes, this.store.waiting());
    } catch (error) {
      throw new Violation(error, this.#trace);
    }
  }
}
