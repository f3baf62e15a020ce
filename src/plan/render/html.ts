import { optionTitle, percent } from "../advise/verdict.ts";
import { formatHours, formatMoney } from "../show.ts";
import type { Option, Plan, PlanInputs } from "../types.ts";
import { drawChart, escapeText } from "./chart.ts";
import { costByChurn, costByInterval, finishDistribution } from "./charts.ts";

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#667;--line:#d8dce2;--band:#0a7d3322;--c0:#0a7d33;--c1:#b3541e;--c2:#2457c5;--c3:#7a3fb3}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--paper:#14171a;--soft:#9aa3ad;--line:#2c333a;--band:#3ddc8433;--c0:#3ddc84;--c1:#f0a35e;--c2:#7aa5ff;--c3:#c79bff}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}.verdict{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.3rem .5rem;border-bottom:1px solid var(--line)}
th:first-child,td:first-child,td.text{text-align:left}th{color:var(--soft);font-weight:500}.scroll{overflow-x:auto}
svg{width:100%;height:auto;margin:1rem 0}svg text{font-size:12px;fill:var(--soft)}svg .title{font-size:13px;fill:var(--ink)}
.grid{stroke:var(--line)}.curve{fill:none;stroke-width:2}.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}
svg text.c0{fill:var(--c0);stroke:none}svg text.c1{fill:var(--c1);stroke:none}svg text.c2{fill:var(--c2);stroke:none}svg text.c3{fill:var(--c3);stroke:none}
.band{fill:var(--band)}.mark{stroke:var(--soft);stroke-dasharray:4 3}.soft{color:var(--soft)}`;

/** A plan as one self-contained page: no script, no request to anywhere. */
export function planPage(plan: Plan, inputs: PlanInputs): string {
  const money = (amount: number) => formatMoney(amount, inputs.prices.currency);
  const charts = [costByInterval(inputs, plan), costByChurn(inputs, plan), finishDistribution(inputs, plan)];
  const list = (items: readonly string[]) =>
    items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${escapeText(item)}</li>`).join("")}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeText(`Plan: ${plan.name}`)}</title><style>${style}</style></head><body>
<h1>${escapeText(`Plan: ${plan.name}`)}</h1>
<p class="verdict">${escapeText(plan.verdict)}</p>
${list(plan.warnings)}
<h2>Options</h2>
<div class="scroll"><table><thead><tr><th>capacity</th><th>cost</th><th>p10–p90</th><th>finish p50</th><th>p95</th><th>on time</th><th>preemptions</th></tr></thead>
<tbody>${plan.options.map((option) => optionRow(option, money)).join("")}</tbody></table></div>
<h2>Where the hours go</h2>
<div class="scroll"><table><thead><tr><th>capacity</th><th>work</th><th>stalls</th><th>rework</th><th>restarts</th><th>uploads</th><th>billed</th><th>waits</th><th>wall</th></tr></thead>
<tbody>${plan.options.map(ledgerRow).join("")}</tbody></table></div>
<h2>Charts</h2>
${charts.map(drawChart).join("\n")}
<h2>What this rests on</h2>
<div class="scroll"><table><thead><tr><th>input</th><th>value</th><th>from</th></tr></thead><tbody>${plan.assumptions
    .map(
      ({ name, value, kind, source, asOf }) =>
        `<tr><td>${escapeText(name)}</td><td class="text">${escapeText(value)}</td><td class="text">${escapeText(`${kind}: ${source}${asOf ? ` (${asOf})` : ""}`)}</td></tr>`,
    )
    .join("")}</tbody></table></div>
<p class="soft">${plan.runs} simulated runs, seed ${plan.seed}.</p>
</body></html>
`;
}

function optionRow(option: Option, money: (amount: number) => string): string {
  const name = `<td>${escapeText(optionTitle(option.name))}</td>`;
  if (!option.isUsable) return `<tr>${name}<td class="text soft" colspan="6">${escapeText(option.why)}</td></tr>`;
  const { cost, finish, onTime, preemptions } = option;
  const cells = [
    money(cost.mean),
    `${money(cost.p10)}–${money(cost.p90)}`,
    formatHours(finish.p50),
    formatHours(finish.p95),
    onTime === undefined ? "–" : percent(onTime),
    preemptions.toFixed(1),
  ];
  return `<tr>${name}${cells.map((cell) => `<td>${escapeText(cell)}</td>`).join("")}</tr>`;
}

function ledgerRow(option: Option): string {
  if (!option.isUsable) return "";
  const { work, stalls, rework, restarts, flushes, waits } = option.ledger;
  const cells = [work, stalls, rework, restarts, flushes, option.billed.mean, waits, option.finish.mean];
  return `<tr><td>${escapeText(optionTitle(option.name))}</td>${cells.map((hours) => `<td>${hours.toFixed(2)}</td>`).join("")}</tr>`;
}
