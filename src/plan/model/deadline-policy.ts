/** What runs in one tick of time. */
export type Capacity = "none" | "spot" | "on-demand";

/** A job that must be over by its deadline, on Spot where possible. Seconds. */
export interface DeadlineJob {
  readonly work: number;
  readonly deadline: number;
  /** Lost at every change into a running machine. */
  readonly changeover: number;
  /** Length of a tick. */
  readonly tick: number;
}

/** What the policy sees at the start of a tick. */
export interface TickView {
  /** Time since the start. */
  readonly now: number;
  readonly done: number;
  /** What ran in the tick before, `none` if that was Spot and is gone. */
  readonly last: Capacity;
  /** Part of a changeover still to be waited for. */
  readonly changeoverLeft: number;
  readonly hasSpot: boolean;
}

/** Chooses what to run next. */
export type Policy = (job: DeadlineJob, view: TickView) => Capacity;

/** Spot whenever there is any, on-demand only when the deadline leaves no other way. */
export const greedy: Policy = (job, view) => {
  const wish = view.last === "on-demand" ? "on-demand" : view.hasSpot ? "spot" : "none";
  return guarded(job, view, wish);
};

/**
 * Uniform Progress (Wu et al., NSDI 2024): never fall behind an even pace. Spot is taken whenever it is there and kept until it
 * goes; without it on-demand runs only while the job is behind, and is left again when the job is ahead of the pace by two changeovers.
 */
export const uniformProgress: Policy = (job, view) => {
  const pace = job.work / job.deadline;
  const isBehind = view.done < view.now * pace;
  const isAhead = view.done > (view.now + 2 * job.changeover) * pace;
  const wish =
    view.last === "on-demand" && !(isAhead && view.hasSpot)
      ? "on-demand"
      : view.hasSpot
        ? "spot"
        : isBehind
          ? "on-demand"
          : "none";
  return guarded(job, view, wish);
};

/** What a policy came to. */
export interface DeadlineOutcome {
  readonly spotTicks: number;
  readonly onDemandTicks: number;
  /** When the work was over, or undefined when the ticks ended first. */
  readonly finishedAt: number | undefined;
  readonly done: number;
}

/** Runs a policy over a trace: for each tick whether Spot is available. */
export function followPolicy(job: DeadlineJob, available: readonly boolean[], policy: Policy): DeadlineOutcome {
  let done = 0;
  let running: Capacity = "none";
  let changeoverLeft = 0;
  let spotTicks = 0;
  let onDemandTicks = 0;
  for (let index = 0; index <= available.length; index += 1) {
    // The work of a tick is credited when the next begins.
    if (running !== "none") {
      const worked = Math.max(job.tick - changeoverLeft, 0);
      changeoverLeft -= job.tick - worked;
      done += Math.min(worked, job.work - done);
    }
    const now = index * job.tick;
    if (job.work - done <= 1e-3) return { spotTicks, onDemandTicks, finishedAt: now, done };
    const hasSpot = available[index];
    if (hasSpot === undefined) break;
    const last: Capacity = running === "spot" && !hasSpot ? "none" : running;
    const next = policy(job, { now, done, last, changeoverLeft, hasSpot });
    // Refilled, not added: a machine that is left before it was up has cost its time already.
    if (next !== "none" && next !== last) changeoverLeft = job.changeover;
    if (next === "spot") spotTicks += 1;
    if (next === "on-demand") onDemandTicks += 1;
    running = next;
  }
  return { spotTicks, onDemandTicks, finishedAt: undefined, done };
}

/** The safety net: once what is left only just fits, nothing is risked any more. */
function guarded(job: DeadlineJob, view: TickView, wish: Capacity): Capacity {
  const ticks = (seconds: number) => Math.ceil(seconds / job.tick);
  const left = Math.floor((job.deadline - view.now) / job.tick);
  const work = job.work - view.done;
  const isWorkingSpot = view.last === "spot" && view.hasSpot;
  if (ticks(work + job.changeover) >= left) return isWorkingSpot && view.changeoverLeft < 1e-3 ? "spot" : "on-demand";
  if (ticks(work + 2 * job.changeover) >= left && !isWorkingSpot) return "on-demand";
  return wish;
}

/** Hours of a job that takes Spot while it may and on-demand for the rest, Spot being there a share of the time (no changeovers). */
export function greedyFluid(input: { work: number; deadline: number; spotShare: number }): {
  readonly spotPhase: number;
  readonly spot: number;
  readonly onDemand: number;
} {
  const { work, deadline, spotShare } = input;
  // Until t the job runs on Spot alone; then what is left must fit the time that is left: work - share*t = deadline - t.
  const spotPhase = spotShare >= 1 ? work : Math.min((deadline - work) / (1 - spotShare), work / spotShare);
  const spot = Math.min(work, spotShare * spotPhase);
  return { spotPhase, spot, onDemand: work - spot };
}
