/** One rule taken out of the source, and the test that must then fail. */
export interface Mutant {
  readonly name: string;
  readonly test: string;
  /** The beginning of the test's name. */
  readonly case: string;
  readonly edits: readonly Edit[];
}

interface Edit {
  readonly file: string;
  /** Must occur exactly once. */
  readonly search: string;
  readonly replace: string;
}

const src = "src/checkpoint";
const rules = `${src}/log/rules.ts`;
const commit = `${src}/commit.ts`;
const collect = `${src}/retention/collect.ts`;
const settle = `${src}/settle-target.ts`;
const prune = `${src}/retention/prune.ts`;
const takeOver = `${src}/take-over.ts`;

const noReuseCheck: readonly Edit[] = [
  { file: commit, search: "if (!canReuse(state, body.reuses))", replace: "if (!canReuse(state, []))" },
  {
    file: rules,
    search: "if (!source || source.damaged) throw",
    replace: "if (!source && source !== undefined) throw",
  },
];

const staleDrop: Edit = {
  file: prune,
  search: "if (head?.id !== planned.id) return { result: undefined };",
  replace: "void head;",
};

/** A blind drop, also where the rules themselves would refuse it. */
const blindDrop: readonly Edit[] = [
  staleDrop,
  { file: rules, search: "if (gone.some(isWhole) &&", replace: "if (gone.length < 0 &&" },
  { file: rules, search: "if (gone.some(isGood) &&", replace: "if (gone.length < 0 &&" },
];

const gangOutlivesEpoch: Edit = {
  file: rules,
  search: "const endsAll = state.gang !== null || state.of !== body.of;",
  replace: "const endsAll = state.of !== body.of;",
};

const noTenure: readonly Edit[] = [
  {
    file: commit,
    search: "const state = requireTenure(head, run.run, tenure);",
    replace: "if (!head) throw new Error(run.run);\n    const state = head.state;",
  },
  {
    file: rules,
    search:
      'function applyCommit(state: LogState, body: Body<"commit">, stamp: Stamp): LogState {\n  requireCurrent(state, body.epoch);\n  if (state.gang === null || body.gang !== state.gang) throw',
    replace:
      'function applyCommit(state: LogState, body: Body<"commit">, stamp: Stamp): LogState {\n  if (state.gang === undefined) throw',
  },
];

const collectsUnknown: Edit = { file: collect, search: "(owner.epoch <= head.n && ", replace: "(" };

const schedules: readonly Mutant[] = [
  {
    name: "schedule 1: an epoch undoes earlier commits",
    test: "test/protocol/newest-and-retired.test.ts",
    case: "1:",
    edits: [
      {
        file: rules,
        search: "gangStep: null, done: [], starts };",
        replace: "gangStep: null, done: [], starts, commits: [], committed: 0 };",
      },
    ],
  },
  {
    name: "schedule 2: a retired commit is gone",
    test: "test/protocol/newest-and-retired.test.ts",
    case: "2:",
    edits: [
      {
        file: rules,
        search: "state.commits.map((commit) => (commit.step >= body.step ? { ...commit, retired: true } : commit));",
        replace: "state.commits.filter((commit) => commit.step < body.step);",
      },
    ],
  },
  {
    name: "schedule 3: reuse is not checked at the commit",
    test: "test/protocol/reuse.test.ts",
    case: "3:",
    edits: noReuseCheck,
  },
  {
    name: "schedule 4: chunks of any live commit are reused",
    test: "test/protocol/reuse.test.ts",
    case: "4:",
    edits: [
      {
        file: `${src}/ship/ship-files.ts`,
        search: "reusable: mayReuse ? book.reusable(state) : new Map(),",
        replace:
          "reusable: mayReuse ? await (async () => { for (const live of state.commits) book.add(live.at, await Promise.all(live.manifests.map((ref) => getManifest(run, ref, state.hash)))); return book.reusable(state); })() : new Map(),",
      },
      {
        file: `${src}/ship/ship-files.ts`,
        search: 'import { putManifest } from "../manifest-codec.ts";',
        replace: 'import { getManifest, putManifest } from "../manifest-codec.ts";',
      },
    ],
  },
  {
    name: "schedule 5: damage is remembered, not written down",
    test: "test/protocol/reuse.test.ts",
    case: "5:",
    edits: [
      {
        file: settle,
        search: "const target = chooseTarget(state, run);",
        replace:
          "const target = state.commits.toReversed().find((entry) => !bad.has(entry.at)) ?? chooseTarget(state, run);",
      },
      {
        file: settle,
        search: "let restored: number | undefined;",
        replace: "let restored: number | undefined;\n  const bad = new Set<number>();",
      },
      {
        file: settle,
        search: "await writeDamage(run, log, options, target, outcome.damaged, signal);",
        replace:
          "bad.add(target.at);\n        if (bad.size < 0) await writeDamage(run, log, options, target, outcome.damaged, signal);",
      },
    ],
  },
  {
    name: "schedule 6: a drop is repeated after a collision",
    test: "test/protocol/reuse.test.ts",
    case: "6:",
    edits: blindDrop,
  },
  {
    name: "schedule 7: the collector takes an unknown epoch for an ended one",
    test: "test/protocol/reuse.test.ts",
    case: "7: what an epoch after",
    edits: [collectsUnknown],
  },
  {
    name: "schedule 8: an older step is committed behind a newer one",
    test: "test/protocol/newest-and-retired.test.ts",
    case: "8:",
    edits: [
      { file: commit, search: "if (state.gangStep !== null && step <= state.gangStep)", replace: "if (step < 0)" },
      {
        file: rules,
        search: "if (state.gangStep !== null && body.step <= state.gangStep)",
        replace: "if (body.step < 0)",
      },
    ],
  },
  {
    name: "schedule 9: the log is not read again after the list",
    test: "test/protocol/starts.test.ts",
    case: "9: a first start",
    edits: [
      { file: takeOver, search: "if (!found || (await log.head(signal))) return;", replace: "if (!found) return;" },
    ],
  },
  {
    name: "schedule 10: an old directory is adopted",
    test: "test/protocol/leftovers.test.ts",
    case: "10: what an older start",
    edits: [
      {
        file: `${src}/local/plan-local.ts`,
        search: "(note.base === target.at || note.epoch === target.epoch)",
        replace: "note.base >= 0",
      },
    ],
  },
  {
    name: "schedule 11: a record is recognised by its content",
    test: "test/protocol/starts.test.ts",
    case: "11:",
    edits: [
      {
        file: `${src}/log/run-log.ts`,
        search: "return (await this.#read(record.n, signal))?.id === record.id;",
        replace: "return JSON.stringify((await this.#read(record.n, signal))?.body) === JSON.stringify(record.body);",
      },
    ],
  },
  {
    name: "schedule 12: old records are deleted",
    test: "test/protocol/starts.test.ts",
    case: "12:",
    edits: [
      {
        file: prune,
        search: "return deleteAll(run, new Map([...chunks, ...manifests]), signal);",
        replace:
          'for (let n = 1; n < (plan.keep[0]?.at ?? 0); n += 1) manifests.set(`log/${String(n).padStart(20, "0")}.json`, 0);\n  return deleteAll(run, new Map([...chunks, ...manifests]), signal);',
      },
    ],
  },
  {
    name: "schedule 13: the newest is the highest step",
    test: "test/protocol/newest-and-retired.test.ts",
    case: "13:",
    edits: [
      {
        file: rules,
        search: "state.commits.map((commit) => (commit.step >= body.step ? { ...commit, retired: true } : commit));",
        replace: "state.commits;",
      },
      {
        file: `${src}/log/state.ts`,
        search: "const whole = state.commits.filter((commit) => !commit.damaged).toReversed();",
        replace: "const whole = state.commits.filter((commit) => !commit.damaged).toSorted((a, b) => b.step - a.step);",
      },
    ],
  },
  {
    name: "schedule 14: a start ends only its own shard's epoch",
    test: "test/protocol/gang.test.ts",
    case: "14:",
    edits: [gangOutlivesEpoch],
  },
  {
    name: "schedule 15: a shard that is ready does not look whether the target moved",
    test: "test/protocol/gang.test.ts",
    case: "15:",
    edits: [{ file: settle, search: "if ((targetOf(state)?.at ?? 0) !== target) return undefined;", replace: "" }],
  },
  {
    name: "schedule 16: a shard leaves when it has finished itself",
    test: "test/protocol/gang.test.ts",
    case: "16:",
    edits: [
      {
        file: `${src}/finish-shard.ts`,
        search: "while (!isFinished(state)) {",
        replace: "while (state.done.length === 0) {",
      },
    ],
  },
  {
    name: "schedule 17: shards adopt leftovers",
    test: "test/protocol/leftovers.test.ts",
    case: "17: a shard never",
    edits: [{ file: `${src}/local/plan-local.ts`, search: "    inputs.of === 1 &&\n", replace: "" }],
  },
  {
    name: "schedule 18: manifests of another gang are taken in",
    test: "test/protocol/gang.test.ts",
    case: "18:",
    edits: [{ file: commit, search: "name.gang !== tenure.gang || ", replace: "" }],
  },
  {
    name: "schedule 19: only the committing shard's own reuse is checked",
    test: "test/protocol/gang.test.ts",
    case: "19:",
    edits: [{ file: commit, search: "new Set(all.flatMap(", replace: "new Set([own].flatMap(" }],
  },
  {
    name: "schedule 20: the gang is named by the head that was read",
    test: "test/protocol/gang.test.ts",
    case: "20:",
    edits: [
      {
        file: settle,
        search: "if (state.gang !== null) return state.gang;",
        replace: "if (state.gang !== null) return log.seen?.n;",
      },
    ],
  },
];

const planted: readonly Mutant[] = [
  {
    name: "model: a commit does not look whether its start is still in charge",
    test: "test/model/one-shard.test.ts",
    case: "a frozen and a live writer",
    edits: noTenure,
  },
  {
    name: "model: a drop is planned on a stale head",
    test: "test/model/one-shard.test.ts",
    case: "two pruners",
    edits: [staleDrop],
  },
  {
    name: "model: the collector takes an unknown epoch for an ended one",
    test: "test/model/one-shard.test.ts",
    case: "a writer and a collector",
    edits: [collectsUnknown],
  },
  {
    name: "model: reuse is not checked at the commit",
    test: "test/model/one-shard.test.ts",
    case: "a writer whose checkpoints share data",
    edits: noReuseCheck,
  },
  {
    name: "model: objects are deleted before the drop is written",
    test: "test/model/one-shard.test.ts",
    case: "a writer and a pruner",
    edits: [
      {
        file: prune,
        search: "const dropped = await writeDrop(log, head, plan, signal);",
        replace:
          "await deleteUnnamed(run, plan, named, present, signal);\n    const dropped = await writeDrop(log, head, plan, signal);",
      },
    ],
  },
  {
    name: "kill: objects are deleted before the drop is written",
    test: "test/protocol/kill-at-every-call.test.ts",
    case: "killing the 'pruner'",
    edits: [
      {
        file: prune,
        search: "const dropped = await writeDrop(log, head, plan, signal);",
        replace:
          "await deleteUnnamed(run, plan, named, present, signal);\n    const dropped = await writeDrop(log, head, plan, signal);",
      },
    ],
  },
  {
    name: "model: the commit record comes before its manifest",
    test: "test/model/one-shard.test.ts",
    case: "two first starts of a new run",
    edits: [
      {
        file: `${src}/manifest-codec.ts`,
        search: "await run.put(key, bytes, { signal });",
        replace: "void Promise.resolve().then(() => run.put(key, bytes, { signal }));",
      },
    ],
  },
  {
    name: "model: a lost reply is taken for a failure",
    test: "test/model/one-shard.test.ts",
    case: "two first starts of a new run",
    edits: [
      {
        file: `${src}/log/run-log.ts`,
        search: "if (!there) throw error;",
        replace: "if (!there || there.id === record.id) throw error;",
      },
    ],
  },
  {
    name: "model: a reader takes what was dropped for damage",
    test: "test/model/one-shard.test.ts",
    case: "a reader while what it reads is dropped",
    edits: [
      {
        file: `${src}/read-newest.ts`,
        search: "if (!state || !commitAt(state, commit.at)) continue;",
        replace: "if (!state || !commitAt(state, commit.at)) throw error;",
      },
    ],
  },
  {
    name: "model: damage is remembered as ready",
    test: "test/model/one-shard.test.ts",
    case: "two starts that find the newest commit damaged",
    edits: [{ file: settle, search: "if (!outcome.ok) {", replace: "if (!outcome.ok && restored === -1) {" }],
  },
  {
    name: "model: a start ends only its own shard's epoch",
    test: "test/model/gang.test.ts",
    case: "one shard starts a second time while",
    edits: [gangOutlivesEpoch],
  },
  {
    name: "model: only the committing shard's own reuse is checked",
    test: "test/model/gang.test.ts",
    case: "a gang that drops the commit",
    edits: [{ file: commit, search: "new Set(all.flatMap(", replace: "new Set([own].flatMap(" }],
  },
  {
    name: "model: a shard that is ready does not look whether the target moved",
    test: "test/model/gang.test.ts",
    case: "one shard finds the newest commit damaged",
    edits: [{ file: settle, search: "if ((targetOf(state)?.at ?? 0) !== target) return undefined;", replace: "" }],
  },
  {
    name: "model: a shard leaves when it has finished itself",
    test: "test/model/gang.test.ts",
    case: "one shard starts a second time, the other again",
    edits: [
      {
        file: `${src}/finish-shard.ts`,
        search: "while (!isFinished(state)) {",
        replace: "while (state.done.length === 0) {",
      },
    ],
  },
  {
    name: "model: manifests of another gang are taken in",
    test: "test/model/gang.test.ts",
    case: "one shard starts a second time while",
    edits: [{ file: commit, search: "name.gang !== tenure.gang || ", replace: "" }],
  },
  {
    name: "unit: a decision made on an older record is appended",
    test: "src/checkpoint/log/run-log.test.ts",
    case: "never appends a decision",
    edits: [
      {
        file: `${src}/log/run-log.ts`,
        search: "const n = (head?.n ?? 0) + 1;",
        replace: "const n = (this.#head?.n ?? 0) + 1;",
      },
    ],
  },
];

export const mutants: readonly Mutant[] = [...schedules, ...planted];
