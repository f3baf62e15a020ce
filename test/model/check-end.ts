import { strict as assert } from "node:assert";
import type { LogRecord } from "../../src/checkpoint/log/record.ts";
import type { EndedStart, ReadResult, StartResult } from "./actors.ts";
import { recordsOf } from "./checkpoint-world.ts";
import type { Outcome, World } from "./execution.ts";

export interface EndRules {
  /** Whether a start may find nothing good: only where everything was destroyed on purpose. @default false */
  readonly mayFindNothing?: boolean;
  /** Whether an actor may be left waiting for a shard that has no start any more. @default false */
  readonly mayWait?: boolean;
}

/** What must hold when nothing can happen any more: no fault, no torn or mixed restore, no forgotten commit, nobody waiting for one who could go on. */
export function checkEnd(
  world: World,
  outcomes: ReadonlyMap<string, Outcome>,
  waiting: readonly string[],
  rules: EndRules = {},
): void {
  const records = recordsOf(world);
  const starts: StartResult[] = [];
  for (const [name, outcome] of outcomes) {
    if ("error" in outcome) throw new Error(`${name} failed: ${String(outcome.error)}`, { cause: outcome.error });
    const result = outcome.value as StartResult | EndedStart | ReadResult | number;
    if (typeof result === "number") continue;
    if (result.kind === "read") checkPast(records, name, result.at, result.past);
    if (result.kind === "no-good-checkpoint") assert(rules.mayFindNothing, `${name} found no good checkpoint`);
    if (result.kind !== "start") continue;
    starts.push(result);
    if (result.target > 0) checkPast(records, name, result.target, result.past);
    else assert.equal(result.past, "", `${name} resumed a past without a commit`);
    for (const { step, outcome: kind } of result.shipped) {
      if (kind === "committed")
        assert(findCommit(records, result.gang, step), `${name} lost its commit of step ${step}`);
    }
  }
  for (const a of starts) {
    for (const b of starts) {
      if (a.gang === b.gang) assert.equal(a.target, b.target, `gang ${a.gang} resumed from two commits`);
    }
  }
  if (waiting.length === 0) return;
  assert(rules.mayWait, `${waiting.join(", ")} wait(s) for ever`);
  const state = records.at(-1)?.state;
  assert(state && state.epochs.length < state.of, `${waiting.join(", ")} wait(s) although every shard has started`);
}

/** What was read must be exactly what that commit is: the past of its own gang and step. */
function checkPast(records: readonly LogRecord[], name: string, at: number, past: string): void {
  const body = records[at - 1]?.body;
  assert(body?.kind === "commit", `${name} resumed from ${at}, which is no commit`);
  assert(past.endsWith(`>${body.gang}@${body.step}`) && !past.includes(" "), `${name} read ${past} from commit ${at}`);
}

function findCommit(records: readonly LogRecord[], gang: number, step: number): boolean {
  return records.some(({ body }) => body.kind === "commit" && body.gang === gang && body.step === step);
}
