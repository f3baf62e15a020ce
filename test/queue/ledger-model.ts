import { expect } from "vitest";
import type { Ending, ItemLimits, JsonValue, Ledger, SettleOutcome, StartOutcome } from "../../src/results/index.ts";
import { leaseMs } from "./ledger-world.ts";

/** What the rules say of one item, told in another way than the source tells it: by its history. */
interface Story {
  generation: number;
  /** Every claim given in this generation, oldest first. */
  claims: {
    readonly claim: string;
    readonly holder: string;
    until: number;
    readonly isAlone: boolean;
    isOver: boolean;
  }[];
  lease: { holder: string; until: number } | undefined;
  notBefore: number;
  failures: number;
  interruptions: number;
  lonely: number;
  isDead: boolean;
  result: JsonValue | undefined;
  error: string;
  lateClaim: string | undefined;
  /** The last settlement that was accepted: the same once more is repeated. */
  last: { readonly claim: string; readonly kind: Ending["kind"] } | undefined;
}

/** An oracle: it is told what happened and says what should have. */
export class LedgerModel {
  readonly stories = new Map<string, Story>();
  readonly limits: ItemLimits;
  now = 0;
  interruptions = 0;
  late = 0;

  constructor(limits: ItemLimits) {
    this.limits = limits;
  }

  story(id: string): Story {
    const story = this.stories.get(id);
    if (!story) throw new Error(`no story of ${id}`);
    return story;
  }

  add(id: string): boolean {
    if (this.stories.has(id)) return false;
    this.stories.set(id, { ...newLife(0), result: undefined, lateClaim: undefined });
    return true;
  }

  isSettled(id: string): boolean {
    const story = this.story(id);
    return story.isDead || story.result !== undefined;
  }

  isClaimable(id: string): boolean {
    const story = this.story(id);
    if (this.isSettled(id) || story.notBefore > this.now) return false;
    return !this.#isHeld(story);
  }

  #isHeld(story: Story): boolean {
    const running = runningClaim(story);
    return (story.lease?.until ?? 0) > this.now || (running !== undefined && running.until > this.now);
  }

  lease(id: string, holder: string): void {
    expect(this.isClaimable(id), `${id} was claimable`).toBe(true);
    const story = this.story(id);
    story.lease = { holder, until: this.now + leaseMs };
    // Whoever had it before can no longer renew.
    const running = runningClaim(story);
    if (running) running.until = 0;
  }

  release(id: string, holder: string): void {
    const story = this.story(id);
    const running = runningClaim(story);
    if (this.isSettled(id) || story.lease?.holder !== holder || (running && running.until > 0)) return;
    story.lease = undefined;
    story.notBefore = 0;
  }

  /** A start of several at once, by a worker that is idle or not. */
  start(
    ids: readonly string[],
    generations: readonly number[],
    holder: string,
    isIdle: boolean,
    got: readonly StartOutcome[],
  ): void {
    const could = ids.map((id, i) => this.#couldStart(id, generations[i] ?? 0, holder, ids.indexOf(id) === i));
    const suspects = ids.filter(
      (id, i) => could[i] === "yes" && this.#chargedInterruptions(id) >= this.limits.suspectAfter,
    );
    const alone = isIdle ? suspects[0] : undefined;
    ids.forEach((id, i) => {
      const outcome = got[i];
      const may = could[i];
      if (may !== "yes") {
        expect(outcome?.kind, `${id}: ${may}`).toBe(may === "settled" ? "settled" : "handed-back");
        return;
      }
      if (alone !== undefined && id !== alone) {
        expect(outcome, `${id} beside a suspect`).toEqual({ kind: "handed-back", delayMs: 0 });
        const story = this.story(id);
        if (story.lease?.holder === holder) story.lease = undefined;
      } else if (suspects.includes(id) && id !== alone) {
        expect(outcome?.kind, `${id}, a suspect`).toBe("must-wait");
      } else this.#begin(id, holder, id === alone, outcome);
    });
  }

  #couldStart(id: string, generation: number, holder: string, isFirst: boolean): "yes" | "settled" | "held" {
    const story = this.story(id);
    if (this.isSettled(id) || story.generation !== generation) return "settled";
    const running = runningClaim(story);
    if (running && running.until > this.now) return "held";
    if (story.lease && story.lease.holder !== holder && story.lease.until > this.now) return "held";
    if (!story.lease && story.notBefore > this.now) return "held";
    if (!isFirst) return "held";
    if (running?.isAlone && story.lonely + 1 >= this.limits.lonelyInterruptions) {
      this.#charge(story);
      story.isDead = true;
      story.last = undefined;
      story.error = "lost";
      return "settled";
    }
    return "yes";
  }

  #chargedInterruptions(id: string): number {
    const story = this.story(id);
    return story.interruptions + (runningClaim(story) ? 1 : 0);
  }

  #charge(story: Story): void {
    const lost = runningClaim(story);
    if (!lost) return;
    lost.isOver = true;
    story.interruptions += 1;
    if (lost.isAlone) story.lonely += 1;
    this.interruptions += 1;
  }

  #begin(id: string, holder: string, isAlone: boolean, outcome: StartOutcome | undefined): void {
    const story = this.story(id);
    this.#charge(story);
    expect(outcome, `start of ${id}`).toMatchObject({
      kind: isAlone ? "started-alone" : "started",
      failures: story.failures,
    });
    if (!outcome || !("claim" in outcome)) throw new Error("no claim");
    expect(story.claims.map(({ claim }) => claim)).not.toContain(outcome.claim);
    // A lease that is more than half there is kept as it is.
    const isFresh = story.lease?.holder === holder && story.lease.until - this.now > leaseMs / 2;
    const until = isFresh && story.lease ? story.lease.until : this.now + leaseMs;
    story.claims.push({ claim: outcome.claim, holder, until, isAlone, isOver: false });
    story.lease = { holder, until };
  }

  renew(id: string, generation: number, holder: string, isLost: boolean): void {
    const story = this.story(id);
    const isHeld = !this.isSettled(id) && story.generation === generation && story.lease?.holder === holder;
    expect(isLost, `renewal of ${id}`).toBe(!isHeld);
    if (!isHeld || !story.lease) return;
    story.lease.until = this.now + leaseMs;
    const running = runningClaim(story);
    if (running && running.until > 0) running.until = story.lease.until;
  }

  settle(id: string, generation: number, claim: string, holder: string, ending: Ending, got: SettleOutcome): void {
    const story = this.story(id);
    const mine = runningClaim(story);
    const isCurrent = story.generation === generation && mine?.claim === claim && !this.isSettled(id);
    if (story.last?.claim === claim && story.last.kind === ending.kind) {
      expect(got.kind, `repeated ${ending.kind} of ${id}`).toBe("repeated");
      return;
    }
    if (ending.kind === "result") {
      if (story.result !== undefined) {
        expect(got.kind, `late result of ${id}`).toBe("late");
        if (story.lateClaim !== claim) this.late += 1;
        story.lateClaim = claim;
        return;
      }
      expect(got.kind, `result of ${id}`).toBe("accepted");
      story.result = ending.result;
      story.isDead = false;
      story.last = { claim, kind: "result" };
      story.lease = undefined;
      for (const each of story.claims) each.isOver = true;
      return;
    }
    expect(got.kind, `${ending.kind} of ${id}`).toBe(isCurrent ? "accepted" : "refused");
    if (!isCurrent || !mine) return;
    mine.isOver = true;
    story.last = { claim, kind: ending.kind };
    const isMine = story.lease?.holder === holder;
    if (isMine) story.lease = undefined;
    if (ending.kind === "hand-back") {
      if (isMine) story.notBefore = 0;
      return;
    }
    story.failures += 1;
    story.error = ending.error;
    if (ending.permanent || story.failures >= this.limits.attempts) story.isDead = true;
    else if (isMine) story.notBefore = this.now + ending.retryDelayMs;
    expect("isDead" in got && got.isDead === true, `death of ${id}`).toBe(story.isDead);
  }

  retry(): number {
    const dead = [...this.stories.values()].filter((story) => story.isDead);
    for (const story of dead) Object.assign(story, newLife(story.generation + 1));
    return dead.length;
  }

  /** Compares what can be counted. */
  async check(ledger: Ledger): Promise<void> {
    const ids = [...this.stories.keys()];
    const settled = ids.filter((id) => this.isSettled(id));
    const dead = ids.filter((id) => this.story(id).isDead);
    const held = ids.filter((id) => !this.isSettled(id) && this.#isHeld(this.story(id)));
    const delayed = ids.filter(
      (id) => !this.isSettled(id) && !held.includes(id) && this.story(id).notBefore > this.now,
    );
    expect(await ledger.depth()).toMatchObject({
      total: ids.length,
      dead: dead.length,
      done: settled.length - dead.length,
      leased: held.length,
      delayed: delayed.length,
      ready: ids.length - settled.length - held.length - delayed.length,
      interruptions: this.interruptions,
      late: this.late,
    });
    expect(await ledger.isDrained()).toBe(settled.length === ids.length);
  }

  /** Compares every row; slower. */
  async checkRows(ledger: Ledger): Promise<void> {
    const ids = [...this.stories.keys()];
    const settled = ids.filter((id) => this.isSettled(id));
    const dead = ids.filter((id) => this.story(id).isDead);
    const audit = await ledger.audit();
    expect(audit.duplicates).toEqual([]);
    expect(audit.missing.toSorted()).toEqual(ids.filter((id) => !settled.includes(id)).toSorted());
    const stored: Record<string, JsonValue> = {};
    for await (const row of ledger.results()) stored[row.id] = row.result;
    const wanted = ids.filter((id) => this.story(id).result !== undefined);
    expect(stored).toEqual(Object.fromEntries(wanted.map((id) => [id, this.story(id).result])));
    expect((await ledger.dead(undefined, 100)).map(({ id }) => id).toSorted()).toEqual(dead.toSorted());
  }
}

function newLife(generation: number): Omit<Story, "result" | "lateClaim"> {
  return {
    generation,
    claims: [],
    lease: undefined,
    notBefore: 0,
    failures: 0,
    interruptions: 0,
    lonely: 0,
    isDead: false,
    error: "",
    last: undefined,
  };
}

/** The claim that was given last and not ended by its own settlement. */
function runningClaim(story: Story): Story["claims"][number] | undefined {
  const last = story.claims.at(-1);
  return last && !last.isOver ? last : undefined;
}
