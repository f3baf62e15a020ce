import { Execution, type Scenario } from "./execution.ts";
import type { Call } from "./gated-store.ts";

export interface WanderOptions {
  readonly seed: number;
  readonly ms: number;
  /** @default no limit */
  readonly schedules?: number;
  readonly lostReplies?: number;
}

/**
 * Follows random schedules, for scenarios too large to try every order of: a search that is cut off has only varied the ends. Every other schedule takes
 * any call; the rest let one actor run on alone until, often right after something was written to the log, another one's turn comes: most faults need
 * few such turns, at the right places.
 */
export async function wander(makeScenario: () => Scenario, options: WanderOptions): Promise<number> {
  const { ms, schedules = Number.POSITIVE_INFINITY, lostReplies = 0 } = options;
  const started = performance.now();
  let walked = 0;
  for (; walked < schedules && (walked === 0 || performance.now() - started < ms); walked += 1) {
    const random = randomNumbers(options.seed + walked);
    const run = new Execution(makeScenario(), lostReplies);
    await run.settle();
    const choose = walked % 2 === 0 ? inTurns(random) : anyOrder(random);
    for (let calls = run.enabled(); calls.length > 0; calls = run.enabled()) {
      const likely = calls.filter((call) => !call.isLost || random() < 0.1);
      await run.step(choose(likely.length > 0 ? likely : calls), true);
    }
    run.checkEnd();
  }
  return walked;
}

type Choice = (calls: readonly Call[]) => Call;

function anyOrder(random: () => number): Choice {
  const stickiness = random() * 0.95;
  let last = "";
  return (calls) => {
    const same = calls.filter((call) => call.actor === last);
    const from = same.length > 0 && random() < stickiness ? same : calls;
    const call = from[Math.floor(random() * from.length)] as Call;
    last = call.actor;
    return call;
  };
}

function inTurns(random: () => number): Choice {
  const ranks = new Map<string, number>();
  const rankOf = (actor: string) => {
    const rank = ranks.get(actor) ?? random();
    ranks.set(actor, rank);
    return rank;
  };
  return (calls) => {
    for (const { actor } of calls) rankOf(actor);
    const call = calls.reduce((a, b) => (rankOf(b.actor) > rankOf(a.actor) ? b : a));
    if (random() < (call.op === "putIfAbsent" ? 0.3 : 0.01)) ranks.set(call.actor, random() - 1);
    return call;
  };
}

/** Numbers in [0, 1) that depend on the seed only (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
