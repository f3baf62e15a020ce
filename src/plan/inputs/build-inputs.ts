import { OutlastError } from "../../core/index.ts";
import { ageInDays, checkPrice, staleness } from "../prices/check.ts";
import { findPrice, knownMachines } from "../prices/find-price.ts";
import type { PriceFile } from "../prices/read-prices.ts";
import { formatHours } from "../show.ts";
import type { Assumption, Churn, NodePrices, PlanInputs } from "../types.ts";
import { type Measurements, measuredChurn, median } from "./calibration.ts";

/** What a user says; hours unless said. Everything but the work may be left out. */
export interface PlanAsk {
  readonly name: string;
  readonly work: number;
  readonly nodes?: number | undefined;
  readonly accelerator?: { readonly type: string; readonly count: number } | undefined;
  readonly machine?: string | undefined;
  readonly region?: string | undefined;
  /** Preemptions per node and hour. */
  readonly churn?: number | undefined;
  readonly shape?: number | undefined;
  readonly shared?: number | undefined;
  readonly save?: number | undefined;
  readonly upload?: number | undefined;
  readonly restart?: number | undefined;
  readonly wait?: number | undefined;
  readonly flexWait?: number | undefined;
  readonly flushChance?: number | undefined;
  readonly interval?: number | undefined;
  readonly stepSeconds?: number | undefined;
  readonly deadline?: number | undefined;
  readonly confidence?: number | undefined;
  /** Price of one node and hour, instead of looking it up. */
  readonly prices?: Partial<NodePrices> | undefined;
  readonly checkpointBytes?: number | undefined;
  /** Cost of moving a gigabyte to where the bucket is. */
  readonly transferPerGb?: number | undefined;
}

/** Inputs ready for a plan, and what to tell about them. */
export interface BuiltInputs {
  readonly inputs: PlanInputs;
  readonly warnings: readonly string[];
}

const defaults = {
  churn: 0.1,
  churnSource:
    "GCP A100 Spot nodes in 27 h of 2021 (uclasystem/bamboo traces): nothing newer is public, so measure your own",
  save: 30 / 3600,
  upload: 60 / 3600,
  restart: 10 / 60,
  wait: 5 / 60,
  shared: 0.9,
  uploadBytesPerSecond: 500e6,
};

/** Fills what was not said from measurements, then from the price table and defaults; every number carries where it came from. */
export function buildInputs(
  ask: PlanAsk,
  from: { prices?: PriceFile; measured?: Measurements; now: number },
): BuiltInputs {
  const assumptions: Assumption[] = [];
  const warnings: string[] = [];
  const note = (name: string, value: string, kind: Assumption["kind"], source: string, asOf?: string) =>
    assumptions.push({ name, value, kind, source, ...(asOf ? { asOf } : {}) });
  requirePositive("the work (--hours)", ask.work);

  const time = (
    name: string,
    given: number | undefined,
    samples: readonly number[] | undefined,
    fallback: number,
  ): number => {
    if (given !== undefined) {
      requireAtLeastZero(name, given);
      note(name, formatHours(given), "given", "you");
      return given;
    }
    const seconds = median(samples);
    const hours = seconds === undefined ? fallback : seconds / 3600;
    if (seconds === undefined) note(name, formatHours(hours), "default", "assumed");
    else note(name, formatHours(hours), "measured", `median of ${samples?.length} in ${from.measured?.source}`);
    return hours;
  };
  const save = time("stall of a save", ask.save, from.measured?.saveSeconds, defaults.save);
  const guess =
    ask.checkpointBytes === undefined ? defaults.upload : ask.checkpointBytes / defaults.uploadBytesPerSecond / 3600;
  const upload = time("upload of a save", ask.upload, from.measured?.uploadSeconds, guess);
  const restart = time("restart", ask.restart, from.measured?.restartSeconds, defaults.restart);
  const wait = time("wait for Spot capacity", ask.wait, from.measured?.waitSeconds, defaults.wait);
  const flexWait =
    ask.flexWait !== undefined || from.measured?.flexWaitSeconds
      ? time("wait for flex-start capacity", ask.flexWait, from.measured?.flexWaitSeconds, 0)
      : undefined;
  const churn = churnOf(ask, from.measured, note);
  const nodes = ask.nodes ?? 1;
  const shared = ask.shared ?? defaults.shared;
  requireShare("--shared", shared);
  if (nodes > 1) {
    note(
      "preemptions that take the whole gang",
      `${Math.round(shared * 100)} %`,
      ask.shared === undefined ? "default" : "given",
      ask.shared === undefined ? "gangs of 4 and 16 measured 92–100 %; 90 % is on the safe side" : "you",
    );
  }
  if (ask.deadline !== undefined) requirePositive("--deadline", ask.deadline);
  const confidence = ask.confidence ?? 0.95;
  requireShare("--confidence", confidence);
  const flushChance = ask.flushChance ?? 0;
  requireShare("--notice-fits", flushChance);
  if (ask.interval !== undefined) requirePositive("--interval", ask.interval);
  if (ask.stepSeconds !== undefined) requirePositive("--step-time", ask.stepSeconds);

  const inputs: PlanInputs = {
    name: ask.name,
    work: ask.work,
    nodes,
    prices: pricesOf(ask, from, note, warnings),
    churn,
    shared,
    save,
    upload,
    restart,
    wait,
    flexWait,
    flushChance,
    flushTime: save + upload,
    interval: ask.interval,
    stepSeconds: ask.stepSeconds,
    deadline: ask.deadline,
    confidence,
    leaseCap: 168,
    transferPerSave: ((ask.checkpointBytes ?? 0) / 1e9) * (ask.transferPerGb ?? 0),
    assumptions,
  };
  return { inputs, warnings };
}

type Note = (name: string, value: string, kind: Assumption["kind"], source: string, asOf?: string) => void;

function churnOf(ask: PlanAsk, measured: Measurements | undefined, note: Note): Churn {
  const shape = ask.shape;
  if (shape !== undefined) requirePositive("--shape", shape);
  const show = (rate: number) => `${Number(rate.toPrecision(3))} per node and hour`;
  if (ask.churn !== undefined) {
    requireAtLeastZero("--churn", ask.churn);
    note("churn", show(ask.churn), "given", "you");
    return { rate: ask.churn, low: ask.churn, high: ask.churn, shape };
  }
  if (measured?.preemptions) {
    const { events, nodeHours } = measured.preemptions;
    const churn = measuredChurn(events, nodeHours);
    const range = `${Number(churn.low.toPrecision(2))}–${Number(churn.high.toPrecision(2))}`;
    note(
      "churn",
      `${show(churn.rate)} (90 %: ${range})`,
      "measured",
      `${events} in ${Math.round(nodeHours)} node-hours, ${measured.source}`,
    );
    return { ...churn, shape };
  }
  note("churn", show(defaults.churn), "default", defaults.churnSource);
  return { rate: defaults.churn, low: defaults.churn / 4, high: defaults.churn * 4, shape };
}

function pricesOf(ask: PlanAsk, from: { prices?: PriceFile; now: number }, note: Note, warnings: string[]): NodePrices {
  const given = ask.prices;
  if (given?.onDemand !== undefined) {
    const prices: NodePrices = {
      currency: given.currency ?? "USD",
      onDemand: given.onDemand,
      spot: given.spot,
      flexStart: given.flexStart,
    };
    const point = {
      machine: "the machine",
      accelerator: "",
      count: 1,
      region: "your region",
      asOf: "",
      flexAsOf: undefined,
      source: "you",
    };
    checkPrice({ ...point, ...prices });
    note("prices per node and hour", describe(prices), "given", "you");
    return prices;
  }
  const query = {
    machine: ask.machine,
    region: ask.region,
    accelerator: ask.accelerator?.type,
    count: ask.accelerator?.count,
  };
  const point = findPrice(ask.machine || ask.accelerator ? query : { ...query, machine: "" }, from.prices);
  if (!point) {
    const wanted = [
      ask.accelerator && `${ask.accelerator.type}:${ask.accelerator.count}`,
      ask.machine,
      ask.region && `in ${ask.region}`,
    ];
    throw new OutlastError(
      "OUTLAST_USAGE",
      `no price is known for ${wanted.filter(Boolean).join(" ") || "the machine"}`,
      {
        hint: `give --on-demand, --spot and --flex-start per node and hour, or --prices FILE; known: ${knownMachines(from.prices).slice(0, 6).join(", ")} …`,
      },
    );
  }
  checkPrice(point);
  const old = staleness(point, from.now);
  if (old) warnings.push(old);
  for (const hint of from.prices?.notes ?? []) warnings.push(hint);
  const prices: NodePrices = {
    currency: point.currency,
    onDemand: point.onDemand,
    spot: given?.spot ?? point.spot,
    flexStart: given?.flexStart ?? point.flexStart,
  };
  const flexAge =
    point.flexAsOf && ageInDays(point.flexAsOf, from.now) !== undefined ? `, flex-start of ${point.flexAsOf}` : "";
  note(`prices of ${point.machine} in ${point.region}`, describe(prices), "table", point.source + flexAge, point.asOf);
  return prices;
}

function describe({ onDemand, spot, flexStart, currency }: NodePrices): string {
  const parts = [`on-demand ${onDemand}`];
  if (spot !== undefined) parts.push(`Spot ${spot}`);
  if (flexStart !== undefined) parts.push(`flex-start ${flexStart}`);
  return `${parts.join(", ")} ${currency}/h`;
}

function requirePositive(name: string, value: number): void {
  if (!(value > 0) || !Number.isFinite(value)) throw refused(name, value, "above zero");
}

function requireAtLeastZero(name: string, value: number): void {
  if (!(value >= 0) || !Number.isFinite(value)) throw refused(name, value, "zero or more");
}

function requireShare(name: string, value: number): void {
  if (!(value >= 0 && value <= 1)) throw refused(name, value, "a share from 0 to 1");
}

function refused(name: string, value: number, wanted: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${name} is ${value}, not ${wanted}`, { hint: `give a number ${wanted}` });
}
