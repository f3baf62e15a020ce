import { expectJob } from "../model/job.ts";
import { followPolicy, uniformProgress } from "../model/deadline-policy.ts";
import { exponentialLifetime, type Lifetime, weibullLifetime, weibullScale } from "../model/lifetime.ts";
import { splitIntoLeases } from "../model/leases.ts";
import { gangRate } from "../model/rates.ts";
import { gammaQuantile } from "../model/special.ts";
import { type Random, randomOf } from "../simulate/random.ts";
import { type HourLedger, simulateJob } from "../simulate/run-job.ts";
import { quantile, shareWithin } from "../simulate/simulate.ts";
import type { Band, Option, OptionName, PlanInputs, UsableOption } from "../types.ts";
import { segmentsOf, spotModel } from "./spot-job.ts";

/** A job that expects more than this is no plan. */
const mostPreemptions = 2000;

/** How many runs stand behind a band, and which. */
export interface Effort {
  readonly runs: number;
  readonly seed: number;
}

/** One simulated outcome of an option. */
interface Outcome {
  readonly ledger: HourLedger;
  readonly preemptions: number;
  /** Cost beyond node-hours. */
  readonly extra: number;
  /** Node-hours at another price than the option's own: [hours, price]. */
  readonly mixed?: readonly (readonly [number, number])[];
}

/** All options, in the order they are shown. */
export function compareOptions(inputs: PlanInputs, effort: Effort): readonly Option[] {
  return [onDemand(inputs), flexStart(inputs, effort), spot(inputs, effort), hybrid(inputs, effort)];
}

function onDemand(inputs: PlanInputs): UsableOption {
  const ledger = steadyLedger(inputs, 1, inputs.work, 0);
  return option(
    "on-demand",
    inputs.prices.onDemand,
    inputs,
    [{ ledger, preemptions: 0, extra: inputs.transferPerSave }],
    [],
  );
}

function flexStart(inputs: PlanInputs, effort: Effort): Option {
  const price = inputs.prices.flexStart;
  if (price === undefined) return unusable("flex-start", "no flex-start price is known for this machine and region");
  const interval = Math.min(inputs.interval ?? 1, inputs.work);
  const { leases } = splitIntoLeases({
    work: inputs.work,
    cap: inputs.leaseCap,
    restart: inputs.restart,
    save: inputs.save,
    interval,
    lastSave: inputs.save + inputs.upload,
  });
  const base = steadyLedger(inputs, leases, interval, leases - 1);
  const outcomes = Array.from({ length: inputs.flexWait ? effort.runs : 1 }, (_, run): Outcome => {
    const random = randomOf(effort.seed, run);
    let waits = 0;
    for (let lease = 0; lease < leases; lease += 1) waits += (inputs.flexWait ?? 0) * -Math.log1p(-random.next());
    const saves = inputs.work / interval + leases;
    return { ledger: { ...base, waits }, preemptions: 0, extra: saves * inputs.transferPerSave };
  });
  const notes: string[] = [];
  if (leases > 1) notes.push(`${leases} leases of at most ${inputs.leaseCap} h, a planned save before each end`);
  if (inputs.flexWait === undefined) {
    notes.push(
      "how long it waits in the queue is not known: the finish counts no wait (give --flex-wait, or measure it)",
    );
  }
  return option("flex-start", price, inputs, outcomes, notes);
}

function spot(inputs: PlanInputs, effort: Effort): Option {
  const price = inputs.prices.spot;
  if (price === undefined) return unusable("spot", "no Spot price is known for this machine and region");
  const segments = segmentsOf(inputs);
  const hopeless = unusable("spot", "at this churn the job would lose more than it does and never end");
  if (expectJob(spotModel(inputs), segments).preemptions > mostPreemptions) return hopeless;
  const draw = rateOf(inputs);
  const outcomes: Outcome[] = [];
  let endless = 0;
  for (let run = 0; run < effort.runs; run += 1) {
    const random = randomOf(effort.seed, run);
    const lifetime = lifetimeOf(inputs, gangRate(draw(random), inputs.nodes, inputs.shared));
    const flush = { chance: inputs.flushChance, time: inputs.flushTime };
    const model = spotModel(inputs);
    const result = simulateJob(
      { ...model, segments, lifetime, flush, drawWait: waitOf(inputs), patience: 4 * mostPreemptions },
      random,
    );
    if (!result) endless += 1;
    else outcomes.push({ ...result, extra: (segments + result.preemptions) * inputs.transferPerSave });
  }
  if (endless > effort.runs / 100) return hopeless;
  return option("spot", price, inputs, outcomes, []);
}

/** Spot while the job keeps an even pace towards its deadline, on-demand when it falls behind. */
function hybrid(inputs: PlanInputs, effort: Effort): Option {
  const { prices, deadline } = inputs;
  if (prices.spot === undefined) return unusable("hybrid", "no Spot price is known for this machine and region");
  if (deadline === undefined) return unusable("hybrid", "without a deadline there is nothing to keep up with");
  const interval = inputs.work / segmentsOf(inputs);
  const changeover = inputs.restart + inputs.upload + (interval + inputs.save) / 2;
  if (deadline < inputs.work * (1 + inputs.save / interval) + changeover) {
    return unusable("hybrid", "the deadline is too near even for on-demand");
  }
  const draw = rateOf(inputs);
  const tick = Math.max(60, (deadline * 3600) / 2000);
  const job = {
    work: inputs.work * 3600 * (1 + inputs.save / interval),
    deadline: deadline * 3600,
    changeover: changeover * 3600,
    tick,
  };
  const runs = Math.min(effort.runs, 2000);
  const outcomes = Array.from({ length: runs }, (_, run): Outcome => {
    const random = randomOf(effort.seed, run);
    const available = availability(inputs, gangRate(draw(random), inputs.nodes, inputs.shared), random, job);
    const { spotTicks, onDemandTicks, finishedAt } = followPolicy(job, available, uniformProgress);
    const spotHours = (spotTicks * tick) / 3600;
    const onDemandHours = (onDemandTicks * tick) / 3600;
    const billed = spotHours + onDemandHours;
    const wall = (finishedAt ?? job.deadline) / 3600;
    const stalls = inputs.work * (inputs.save / interval);
    const lost = Math.max(0, billed - inputs.work - stalls);
    const restarts = Math.min(lost, lost * (inputs.restart / changeover));
    return {
      ledger: { work: inputs.work, stalls, rework: lost - restarts, restarts, flushes: 0, waits: wall - billed },
      preemptions: lost / changeover,
      extra: (inputs.work / interval) * inputs.transferPerSave,
      mixed: [
        [spotHours, prices.spot ?? 0],
        [onDemandHours, prices.onDemand],
      ],
    };
  });
  return option("hybrid", prices.spot, inputs, outcomes, [
    "Uniform Progress: Spot while on pace, on-demand when behind",
  ]);
}

/** Hours of a job that nothing interrupts. */
function steadyLedger(inputs: PlanInputs, starts: number, interval: number, plannedSaves: number): HourLedger {
  const saves = Math.max(1, Math.round(inputs.work / interval));
  return {
    work: inputs.work,
    stalls: saves * inputs.save,
    rework: 0,
    restarts: starts * inputs.restart,
    flushes: inputs.upload + plannedSaves * (inputs.save + inputs.upload),
    waits: 0,
  };
}

/** A node's rate for one run: drawn from what the measurement leaves possible, or the assumed one. */
function rateOf({ churn }: PlanInputs): (random: Random) => number {
  const { measured } = churn;
  if (!measured) return () => churn.rate;
  // The quantiles of the posterior, tabled once: drawing by bisection would cost more than the whole simulation.
  const table = Array.from(
    { length: 512 },
    (_, i) => gammaQuantile(measured.events + 0.5, (i + 0.5) / 512) / measured.hours,
  );
  return (random) => table[Math.floor(random.next() * table.length)] as number;
}

function lifetimeOf({ churn }: PlanInputs, rate: number): Lifetime {
  const shape = churn.shape ?? 1;
  return shape === 1 || rate === 0 ? exponentialLifetime(rate) : weibullLifetime(shape, weibullScale(shape, 1 / rate));
}

function waitOf({ wait }: PlanInputs): (random: Random) => number {
  return (random) => wait * -Math.log1p(-random.next());
}

/** Whether Spot is there, tick by tick: lifetimes and waits in turn. */
function availability(
  inputs: PlanInputs,
  rate: number,
  random: Random,
  job: { readonly deadline: number; readonly tick: number },
): boolean[] {
  const lifetime = lifetimeOf(inputs, rate);
  const ticks: boolean[] = [];
  const length = Math.ceil(job.deadline / job.tick) + 2;
  let at = 0;
  for (let isThere = true; ticks.length < length; isThere = !isThere) {
    at += 3600 * (isThere ? lifetime.draw(random.next()) : waitOf(inputs)(random));
    while (ticks.length < length && ticks.length * job.tick < at) ticks.push(isThere);
  }
  return ticks;
}

function option(
  name: OptionName,
  pricePerHour: number,
  inputs: PlanInputs,
  outcomes: readonly Outcome[],
  notes: readonly string[],
): UsableOption {
  const billedOf = ({ ledger: l }: Outcome) => l.work + l.stalls + l.rework + l.restarts + l.flushes;
  const costOf = (outcome: Outcome) => {
    const parts = outcome.mixed ?? [[billedOf(outcome), pricePerHour] as const];
    return parts.reduce((sum, [hours, price]) => sum + hours * price * inputs.nodes, outcome.extra);
  };
  const finish = Float64Array.from(outcomes.map((outcome) => billedOf(outcome) + outcome.ledger.waits)).sort();
  const average = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((sum, one) => sum + of(one), 0) / outcomes.length;
  const ledger: HourLedger = {
    work: average((one) => one.ledger.work),
    stalls: average((one) => one.ledger.stalls),
    rework: average((one) => one.ledger.rework),
    restarts: average((one) => one.ledger.restarts),
    flushes: average((one) => one.ledger.flushes),
    waits: average((one) => one.ledger.waits),
  };
  const billedMean = ledger.work + ledger.stalls + ledger.rework + ledger.restarts + ledger.flushes;
  return {
    name,
    isUsable: true,
    pricePerHour,
    cost: band(Float64Array.from(outcomes.map(costOf)).sort(), average(costOf)),
    finish: band(finish, billedMean + ledger.waits),
    billed: band(Float64Array.from(outcomes.map(billedOf)).sort(), billedMean),
    preemptions: average((one) => one.preemptions),
    ledger,
    onTime: inputs.deadline === undefined ? undefined : onTime(name, inputs, finish),
    notes,
  };
}

function onTime(name: OptionName, inputs: PlanInputs, finish: Float64Array): number | undefined {
  const deadline = inputs.deadline ?? Number.POSITIVE_INFINITY;
  const share = shareWithin(finish, deadline);
  // Without knowing the queue only the impossible can be ruled out.
  return name === "flex-start" && inputs.flexWait === undefined && share > 0 ? undefined : share;
}

function band(ascending: Float64Array, mean: number): Band {
  const at = (share: number) => quantile(ascending, share);
  return { mean, p10: at(0.1), p50: at(0.5), p90: at(0.9), p95: at(0.95) };
}

function unusable(name: OptionName, why: string): Option {
  return { name, isUsable: false, why };
}
