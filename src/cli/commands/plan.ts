import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes, OutlastError } from "../../core/index.ts";
import type { Measurements, Plan, PlanAsk, PlanInputs } from "../../plan/index.ts";
import type { Command, CommandArgs, CommandContext } from "../command.ts";
import type { PlanJson, PlanMatrixJson } from "../json/plan.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast plan` */
export const plan: Command = {
  name: "plan",
  summary: "Spot, flex-start, on-demand or a mix: cost, finish, interval, break-even",
  description:
    "Compares capacities for one job by formulas and by simulation: what each costs, when it is over, how often to save, and past which churn Spot stops paying. What is not given comes from a dated price table and from defaults, all of it printed; --store with --run, and --history, replace assumptions by measurements.",
  examples: [
    {
      text: "A 38-hour job on eight A100s that must be over in two days",
      command: "outlast plan --hours 38 --accelerator A100:8 --region us-central1 --deadline 48",
    },
    {
      text: "Is a save every 30 minutes right?",
      command: "outlast plan --hours 6 --accelerator L4:1 --region us-central1 --interval 30m",
    },
    {
      text: "With what a run has measured",
      command: "outlast plan --hours 38 --accelerator A100:8 --store /mnt/store --run bert",
    },
    { text: "Which capacity for which work", command: "outlast plan --matrix" },
  ],
  flags: [
    ...(["hours", "deadline", "accelerator", "machine", "nodes", "region", "churn", "shape", "shared"] as const),
    ...([
      "saveTime",
      "uploadTime",
      "restartTime",
      "waitTime",
      "flexWait",
      "noticeFits",
      "interval",
      "stepTime",
    ] as const),
    ...([
      "confidence",
      "onDemand",
      "spot",
      "flexStart",
      "prices",
      "history",
      "checkpointSize",
      "store",
      "run",
    ] as const),
    ...(["runs", "seed", "html", "matrix", "json", "noProgress"] as const),
  ],
  required: [],
  handler: async (args, context) => {
    if (args.values.matrix) return printMatrix(args, context);
    const { buildInputs, makePlan, mergeMeasurements, planPage, readPrices } = await import("../../plan/index.ts");
    const ask = askOf(args);
    const prices =
      args.values.prices === undefined
        ? undefined
        : readPrices(await read(args.values.prices, context), args.values.prices);
    const measured = mergeMeasurements(await measurementsOf(args, context));
    const { inputs, warnings } = buildInputs(ask, {
      now: context.clock.now(),
      ...(prices ? { prices } : {}),
      ...(measured ? { measured } : {}),
    });
    const made = makePlan(inputs, { runs: args.values.runs ?? 20_000, seed: args.values.seed ?? 1 });
    const result: Plan = { ...made, warnings: [...made.warnings, ...warnings] };
    if (args.values.html !== undefined) {
      await writeFile(resolve(context.cwd, args.values.html), planPage(result, inputs));
      if (!args.values.json) context.logger.info("wrote the page", { file: args.values.html });
    }
    if (args.values.json) context.printJson(asJson(result, inputs));
    else context.print((await import("../planning/plan-text.ts")).planText(result, inputs));
    return exitCodes.finished;
  },
};

function askOf({ values }: CommandArgs): PlanAsk {
  if (values.hours === undefined) {
    throw new OutlastError("OUTLAST_USAGE", "how much work is it? --hours is missing", {
      hint: "give the hours an undisturbed run takes, such as --hours 38",
    });
  }
  const inHours = (ms: number | undefined) => (ms === undefined ? undefined : ms / 3_600_000);
  const { onDemand, spot, flexStart } = values;
  const given = {
    ...(onDemand === undefined ? {} : { onDemand }),
    ...(spot === undefined ? {} : { spot }),
    ...(flexStart === undefined ? {} : { flexStart }),
  };
  return {
    name: values.run ?? "job",
    work: values.hours,
    nodes: values.nodes,
    accelerator: values.accelerator,
    machine: values.machine,
    region: values.region,
    churn: values.churn,
    shape: values.shape,
    shared: values.shared,
    save: inHours(values.saveTime),
    upload: inHours(values.uploadTime),
    restart: inHours(values.restartTime),
    wait: inHours(values.waitTime),
    flexWait: inHours(values.flexWait),
    flushChance: values.noticeFits,
    interval: inHours(values.interval),
    stepSeconds: values.stepTime === undefined ? undefined : values.stepTime / 1000,
    deadline: values.deadline,
    confidence: values.confidence,
    prices: given,
    checkpointBytes: values.checkpointSize,
  };
}

async function measurementsOf(args: CommandArgs, context: CommandContext): Promise<Measurements[]> {
  const { readHistory } = await import("../../plan/index.ts");
  const found: Measurements[] = [];
  for (const file of args.values.history ?? []) found.push(readHistory(await read(file, context), file));
  const { store, run: name } = args.values;
  if (store === undefined) return found;
  const { listRuns, openRun, readCommitHistory } = await import("../../checkpoint/index.ts");
  const { readJournal, summarizeRun } = await import("../../supervisor/index.ts");
  const { openStoreOf } = await import("../open-run.ts");
  const { measureRun } = await import("../planning/measured-run.ts");
  const opened = await openStoreOf(args, context, "read");
  for (const one of name === undefined ? await listRuns(opened) : [name]) {
    const run = openRun(opened, one);
    const history = await readCommitHistory(run, { clock: context.clock });
    const { entries } = await readJournal(run);
    const shards = Math.max(1, ...entries.map(({ record }) => (record.event === "start" ? record.of : 1)));
    const measured = measureRun(one, summarizeRun(entries, history.commits), shards);
    if (measured) found.push(measured);
  }
  return found;
}

async function printMatrix(args: CommandArgs, context: CommandContext): Promise<number> {
  const { decisionMatrix, findPrice } = await import("../../plan/index.ts");
  const { accelerator, machine, region } = args.values;
  const point = findPrice({
    region: region ?? "us-central1",
    ...(machine || accelerator
      ? { machine, accelerator: accelerator?.type, count: accelerator?.count }
      : { machine: "a2-highgpu-8g" }),
  });
  const impact = (capacity: string): number | null => {
    if (!point) return null;
    if (capacity === "on-demand") return 1;
    const price = capacity === "flex-start" ? point.flexStart : point.spot;
    return price === undefined ? null : price / point.onDemand;
  };
  const matrix = decisionMatrix.map((cell) => ({ ...cell, costAgainstOnDemand: impact(cell.capacity) }));
  if (args.values.json) {
    context.printJson({ schema: 1, matrix } satisfies PlanMatrixJson);
    return exitCodes.finished;
  }
  const rows = matrix.map(({ work, capacity, advice, costAgainstOnDemand, why }, index) => [
    matrix[index - 1]?.work === work ? "" : work,
    capacity,
    advice,
    costAgainstOnDemand === null ? "?" : `${Math.round(costAgainstOnDemand * 100)} %`,
    why,
  ]);
  context.print(
    formatTable(
      [
        { title: "WORK" },
        { title: "CAPACITY" },
        { title: "ADVICE" },
        { title: "PRICE", align: "right" },
        { title: "WHY" },
      ],
      rows,
    ),
  );
  if (point) {
    context.print(
      `\nPRICE: per hour against on-demand, ${point.machine} in ${point.region}, ${point.asOf}; preemptions come on top: \`outlast plan --hours …\``,
    );
  }
  return exitCodes.finished;
}

async function read(file: string, context: CommandContext): Promise<string> {
  try {
    return await readFile(resolve(context.cwd, file), "utf8");
  } catch (cause) {
    throw new OutlastError("OUTLAST_USAGE", `${file} cannot be read`, {
      target: file,
      hint: "give a file that is there",
      cause,
    });
  }
}

function asJson(made: Plan, inputs: PlanInputs): PlanJson {
  return {
    schema: 1,
    name: made.name,
    verdict: made.verdict,
    choice: made.choice ?? null,
    runnerUp: made.runnerUp ?? null,
    margin: made.margin ?? null,
    tooClose: made.isTooClose,
    currency: inputs.prices.currency,
    options: made.options.map((option) => {
      if (!option.isUsable) return { name: option.name, usable: false as const, why: option.why };
      const { name, pricePerHour, cost, finish, billed, preemptions, ledger, onTime } = option;
      return {
        name,
        usable: true as const,
        pricePerHour,
        cost: { ...cost },
        finish: { ...finish },
        billed: { ...billed },
        preemptions,
        hours: { ...ledger },
        onTime: onTime ?? null,
      };
    }),
    interval: {
      bestHours: made.interval.best,
      valleyHours: { ...made.interval.valley },
      steps: made.interval.steps ?? null,
      givenExtra: made.interval.givenExtra ?? null,
      lostHoursPerPreemption: made.interval.lostPerPreemption,
    },
    breakEven: made.breakEven.map(({ against, churn, churnAtGiven, nodes, here }) => ({
      against,
      churn: churn ?? null,
      churnAtGiven: churnAtGiven ?? null,
      nodes: nodes ?? null,
      here: { ...here },
    })),
    sensitivity: made.sensitivity.map(({ input, low, high, flips }) => ({
      input,
      low: { ...low },
      high: { ...high },
      flips,
    })),
    measureNext: made.measureNext ?? null,
    warnings: [...made.warnings],
    assumptions: made.assumptions.map(({ name, value, kind, source, asOf }) => ({
      name,
      value,
      kind,
      source,
      asOf: asOf ?? null,
    })),
    runs: made.runs,
    seed: made.seed,
  };
}
