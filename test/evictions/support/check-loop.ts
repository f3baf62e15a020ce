import type { Eviction } from "./eviction-loop.ts";
import type { TrainerEvent } from "./trainer.ts";

/** What a way of saving promises. */
export interface Promises {
  /** Milliseconds from the end of a save to its commit, while its supervisor lives. */
  readonly lagMs: number;
  /** The files alone prove that a save is whole: nothing saved is lost while its machine or its supervisor's last seconds are there. */
  readonly isProven: boolean;
  /** The program saves when it is told to stop: nothing at all is redone then. */
  readonly savesOnTerm: boolean;
}

/** What the checks found out. */
export interface Findings {
  readonly faults: readonly string[];
  /** Steps done again after each eviction that had done any. */
  readonly redone: readonly number[];
}

/**
 * Follows a run through its evictions. A save is *stored* once its supervisor had `lagMs` to commit it, or ended in good order with it proven; it is
 * *at hand* while nothing but its machine's directory is needed. The next program must resume at least there, and on the very state of that step.
 */
export function checkEvictions(
  evictions: readonly Eviction[],
  events: readonly TrainerEvent[],
  promises: Promises,
  reference: ReadonlyMap<number, string>,
): Findings {
  const faults: string[] = [];
  const redone: number[] = [];
  let stored = 0;
  let local: number[] = [];
  let reached = 0;
  const resume = (trainer: readonly TrainerEvent[], label: string) => {
    const start = trainer[0];
    if (!start) return;
    if (start.event !== "start") faults.push(`${label}: its log begins with ${start.event}`);
    const least = Math.max(stored, ...local);
    if (start.step < least) faults.push(`${label}: resumed at ${start.step}, but step ${least} was safe`);
    if (reference.get(start.step) !== start.hash)
      faults.push(`${label}: resumed on a state that is not that of step ${start.step}`);
    if (reached > 0) redone.push(Math.max(0, reached - start.step));
    if (!local.includes(start.step)) local = [start.step];
  };
  for (const [index, eviction] of evictions.entries()) {
    const { way, at, code, signal, trainer, wasAwake, programAt } = eviction;
    const label = `eviction ${index + 1} (${way}${eviction.isMoved ? ", machine lost" : ""})`;
    if (way === "term") {
      const isInTime = code === 75 || (!wasAwake && signal === "SIGTERM");
      if (!isInTime) faults.push(`${label}: ended with ${code ?? signal}\n${eviction.output}`);
    }
    resume(trainer, label);
    const isClean = way === "term" && code === 75;
    const done = trainer.filter((event) => isClean || event.at <= at);
    const mine = done
      .filter((event) => event.event === "saved")
      .map(({ step, at: savedAt }) => ({ step, since: savedAt }));
    // What was at hand from before counts from the moment the program ran: only then was there somebody to ship it.
    const older = programAt === undefined ? [] : local.map((step) => ({ step, since: programAt }));
    const all = [...older, ...mine];
    const isSafe = ({ since }: { since: number }) => at - since >= promises.lagMs || (isClean && promises.isProven);
    stored = Math.max(stored, ...all.filter(isSafe).map(({ step }) => step));
    const last = done.filter((event) => event.event === "step").at(-1)?.step;
    if (last !== undefined) reached = last;
    if (isClean && promises.savesOnTerm && last !== undefined) stored = Math.max(stored, last);
    // What is not proven whole may be moved aside by the next start, and then counts no more.
    local = eviction.isMoved || !promises.isProven ? [] : [...local, ...mine.map(({ step }) => step)];
  }
  const last = events.at(-1)?.attempt;
  resume(
    events.filter(({ attempt }) => attempt === last),
    "the last start",
  );
  return { faults, redone };
}
