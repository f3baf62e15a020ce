import { z } from "zod";

const band = z.strictObject({
  mean: z.number(),
  p10: z.number(),
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
});

const hours = z.strictObject({
  work: z.number(),
  stalls: z.number().describe("standing still for saves"),
  rework: z.number().describe("done, lost and done again"),
  restarts: z.number(),
  flushes: z.number().describe("saves on notice, and waiting for the last upload"),
  waits: z.number().describe("for capacity; not billed"),
});

const option = z.discriminatedUnion("usable", [
  z.strictObject({ name: z.string(), usable: z.literal(false), why: z.string() }),
  z.strictObject({
    name: z.string(),
    usable: z.literal(true),
    pricePerHour: z.number().describe("of one node"),
    cost: band,
    finish: band.describe("hours from now"),
    billed: band.describe("hours"),
    preemptions: z.number(),
    hours: hours.describe("mean hours; the first five sum to billed.mean, all six to finish.mean"),
    onTime: z.number().nullable().describe("chance to meet the deadline; null without one, or when waits are unknown"),
  }),
]);

/** `outlast plan --json` */
export const planJson = z.strictObject({
  schema: z.literal(1),
  name: z.string(),
  verdict: z.string(),
  choice: z.string().nullable().describe("null when nothing meets the deadline"),
  runnerUp: z.string().nullable(),
  margin: z.number().nullable().describe("how much cheaper than the runner-up, as a share of its cost"),
  tooClose: z.boolean(),
  currency: z.string(),
  options: z.array(option),
  interval: z.strictObject({
    bestHours: z.number(),
    valleyHours: z.strictObject({ low: z.number(), high: z.number() }).describe("within 1 % of the least cost"),
    steps: z.number().nullable(),
    givenExtra: z.number().nullable().describe("what the given interval costs more, as a share"),
    lostHoursPerPreemption: z.number(),
  }),
  breakEven: z.array(
    z.strictObject({
      against: z.string(),
      churn: z.number().nullable().describe("gang preemptions per hour; null: does not pay at any"),
      churnAtGiven: z.number().nullable(),
      nodes: z.number().nullable(),
      here: z.strictObject({ rate: z.number(), low: z.number(), high: z.number() }),
    }),
  ),
  sensitivity: z.array(
    z.strictObject({
      input: z.string(),
      low: z.strictObject({ value: z.string(), cost: z.number() }),
      high: z.strictObject({ value: z.string(), cost: z.number() }),
      flips: z.boolean(),
    }),
  ),
  measureNext: z.string().nullable(),
  warnings: z.array(z.string()),
  assumptions: z.array(
    z.strictObject({
      name: z.string(),
      value: z.string(),
      kind: z.enum(["default", "table", "given", "measured"]),
      source: z.string(),
      asOf: z.string().nullable(),
    }),
  ),
  runs: z.number(),
  seed: z.number(),
});

export type PlanJson = z.infer<typeof planJson>;

/** `outlast plan --matrix --json` */
export const planMatrixJson = z.strictObject({
  schema: z.literal(1),
  matrix: z.array(
    z.strictObject({
      work: z.string(),
      capacity: z.string(),
      advice: z.enum(["first choice", "fits", "only if", "do not"]),
      costAgainstOnDemand: z.number().nullable().describe("price of the capacity over on-demand; null when not known"),
      why: z.string(),
    }),
  ),
});

export type PlanMatrixJson = z.infer<typeof planMatrixJson>;
