import {
  formatHours,
  formatMoney,
  formatRate,
  optionTitle,
  percent,
  type Plan,
  type PlanInputs,
  type UsableOption,
} from "../../plan/index.ts";
import { formatTable } from "../ui/table.ts";

/** A plan as a person reads it on a terminal: verdict first, numbers after, assumptions last. */
export function planText(plan: Plan, inputs: PlanInputs): string {
  const money = (amount: number) => formatMoney(amount, inputs.prices.currency);
  const usable = plan.options.filter((option): option is UsableOption => option.isUsable);
  const sections = [
    [plan.verdict, ...plan.warnings.map((warning) => `! ${warning}`)].join("\n"),
    optionTable(plan, money),
    `Where the hours go (mean; work + stalls + rework + restarts + uploads = billed, + waits = wall)\n${ledgerTable(usable)}`,
    intervalText(plan, inputs),
    breakEvenText(plan),
    sensitivityText(plan, money),
    assumptionText(plan),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

function optionTable(plan: Plan, money: (amount: number) => string): string {
  const rows = plan.options.map((option) => {
    const mark = option.name === plan.choice ? "→ " : "  ";
    if (!option.isUsable) return [mark + optionTitle(option.name), "–", option.why];
    const { cost, finish, onTime, preemptions } = option;
    return [
      mark + optionTitle(option.name),
      money(cost.mean),
      `${money(cost.p10)}–${money(cost.p90)}`,
      formatHours(finish.p50),
      formatHours(finish.p95),
      onTime === undefined ? "–" : percent(onTime),
      preemptions.toFixed(1),
    ];
  });
  const table = formatTable(
    [
      { title: "  CAPACITY" },
      { title: "COST", align: "right" },
      { title: "P10–P90" },
      { title: "FINISH", align: "right" },
      { title: "P95", align: "right" },
      { title: "ON TIME", align: "right" },
      { title: "PREEMPTIONS", align: "right" },
    ],
    rows,
  );
  const notes = plan.options.flatMap((option) =>
    option.isUsable ? option.notes.map((note) => `  ${optionTitle(option.name)}: ${note}`) : [],
  );
  return [table, ...notes].join("\n");
}

function ledgerTable(usable: readonly UsableOption[]): string {
  const titles = ["CAPACITY", "WORK", "STALLS", "REWORK", "RESTARTS", "UPLOADS", "BILLED", "WAITS", "WALL"];
  return formatTable(
    titles.map((title, index) => ({
      title: index === 0 ? `  ${title}` : title,
      align: index === 0 ? "left" : "right",
    })),
    usable.map(({ name, ledger: l, billed, finish }) => [
      `  ${optionTitle(name)}`,
      ...[l.work, l.stalls, l.rework, l.restarts, l.flushes, billed.mean, l.waits, finish.mean].map(
        (hours) => `${hours.toFixed(2)} h`,
      ),
    ]),
  );
}

function intervalText({ interval }: Plan, inputs: PlanInputs): string {
  const { best, valley, steps, givenExtra, lostPerPreemption } = interval;
  const every = `Save every ${formatHours(best)}${steps === undefined ? "" : ` (${steps} steps)`} on Spot; from ${formatHours(valley.low)} to ${formatHours(valley.high)} costs within 1 % of that.`;
  const given =
    givenExtra === undefined || inputs.interval === undefined
      ? []
      : [`Yours, ${formatHours(inputs.interval)}, costs ${percent(Math.max(0, givenExtra))} more.`];
  return [every, ...given, `One preemption then takes ${formatHours(lostPerPreemption)} of work on average.`].join(" ");
}

function breakEvenText({ breakEven }: Plan): string {
  return breakEven
    .map(({ against, churn, churnAtGiven, nodes, here }) => {
      if (churn === undefined) return `Against ${against}, Spot does not pay at any churn: it costs no less per hour.`;
      const mine =
        here.low === here.high
          ? formatRate(here.rate)
          : `${formatRate(here.rate)}, 90 %: ${Number(here.low.toPrecision(2))}–${Number(here.high.toPrecision(2))}`;
      const given = churnAtGiven === undefined ? "" : ` (at your interval above ${formatRate(churnAtGiven)})`;
      const gang = nodes === undefined ? "" : ` That is a gang of about ${nodes} nodes.`;
      return `Against ${against}, Spot stops paying above ${formatRate(churn)}${given}; yours: ${mine}.${gang}`;
    })
    .join("\n");
}

function sensitivityText(plan: Plan, money: (amount: number) => string): string {
  if (plan.sensitivity.length === 0) return "";
  const rows = plan.sensitivity.map(({ input, low, high, flips }) => [
    `  ${input}`,
    `${low.value} → ${money(low.cost)}`,
    `${high.value} → ${money(high.cost)}`,
    flips ? "flips the choice" : "",
  ]);
  const table = formatTable([{ title: "  IF" }, { title: "LOW" }, { title: "HIGH" }, { title: "" }], rows);
  return [table, ...(plan.measureNext ? [`Measure next: ${plan.measureNext}.`] : [])].join("\n");
}

function assumptionText(plan: Plan): string {
  const rows = plan.assumptions.map(({ name, value, kind, source, asOf }) => [
    `  ${name}`,
    value,
    `${kind}${asOf ? ` ${asOf}` : ""}: ${source}`,
  ]);
  return `${formatTable([{ title: "  INPUT" }, { title: "VALUE" }, { title: "FROM" }], rows)}\n  ${plan.runs} simulated runs, seed ${plan.seed}.`;
}
