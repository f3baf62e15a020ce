import type { Mutant } from "./mutant-list.ts";

const rules = "src/results/rules.ts";
const split = "src/queue/split-queue.ts";
const publications = "src/results/sqlite/publications.ts";
const lease = "src/results/sqlite/lease.ts";

const ledgerTest = "test/queue/ledger-sqlite.test.ts";
const queueTest = "test/queue/queue-sqlite.test.ts";

const oneFile = "work queue contract: one SQLite file schedules that broke earlier rules";
const twoFiles = "work queue contract: SQLite queue, results in another SQLite file schedules that broke earlier rules";

type Edits = Mutant["edits"];

/** The same rule taken out, seen by the same schedule in both layouts. */
function inBothLayouts(name: string, schedule: string, edits: Edits): Mutant[] {
  return [inOneFile(name, schedule, edits), inTwoFiles(name, schedule, edits)];
}

function inOneFile(name: string, schedule: string, edits: Edits): Mutant {
  return { name: `batch ${name} (one database)`, test: queueTest, case: `${oneFile} ${schedule}`, edits };
}

function inTwoFiles(name: string, schedule: string, edits: Edits): Mutant {
  return { name: `batch ${name} (two databases)`, test: queueTest, case: `${twoFiles} ${schedule}`, edits };
}

function inLedger(name: string, test: string, edits: Edits): Mutant {
  return { name: `batch ${name}`, test: ledgerTest, case: `ledger contract: SQLite ${test}`, edits };
}

const ignoresGeneration: Edits = [
  {
    file: rules,
    search: "if (isSettled(row) || row.generation !== item.generation) return",
    replace: "if (isSettled(row)) return",
  },
];

const noSuspects: Edits = [
  { file: rules, search: "return row.interruptions >= rules.limits.suspectAfter;", replace: "return rules.now < 0;" },
];

const nothingRepeated: Edits = [
  { file: rules, search: "if (row.settledClaim !== claim) return undefined;", replace: "if (claim) return undefined;" },
];

const resultsFall: Edits = [
  {
    file: rules,
    search: "if (row.accepted > 0) return lateResult",
    replace: "if (row.accepted > 9) return lateResult",
  },
];

/** The claim of the second worker survives the first one's result, and failures are taken from it. */
const deadOverDone: Edits = [
  {
    file: rules,
    search: "    ...free(row, 0),\n    ...noClaim,\n    state",
    replace: "    ...free(row, 0),\n    state",
  },
  { file: rules, search: "if (isSettled(row) || row.claim !== claim ||", replace: "if (row.claim !== claim ||" },
];

const chargesRunning: Edits = [
  {
    file: rules,
    search: "if (row.claim !== null && row.claimUntil > rules.now) return",
    replace: "if (row.claim !== null && row.claimUntil > 9e15) return",
  },
  {
    file: rules,
    search: "if (row.holder !== rules.holder && row.visibleAt > rules.now) return",
    replace: "if (row.holder !== rules.holder && row.visibleAt > 9e15) return",
  },
];

/** Each rule of batch work, and the test that is there for it. */
export const batchMutants: readonly Mutant[] = [
  ...inBothLayouts("an open publication is not waited for", "1, drained by counts: a publisher", [
    {
      file: publications,
      search: "  AND NOT EXISTS (SELECT 1 FROM outlast_publications WHERE closed_at IS NULL)\n",
      replace: "",
    },
  ]),
  inTwoFiles("drained counts sent rows only", "1, drained by counts: a publisher", [
    {
      file: publications,
      search: "  AND NOT EXISTS (SELECT 1 FROM outlast_items WHERE state = 'pending')\n",
      replace: "",
    },
  ]),
  ...inBothLayouts("drained looks at one id after the other", "1, drained by counts: never said", [
    {
      file: "src/results/sqlite/sqlite-ledger.ts",
      search: 'return this.#read("read", ({ file }) => isDrained(file));',
      replace: `const sql = "SELECT 1 FROM outlast_items WHERE id = ? AND state IN ('done', 'dead')";
    const look = (id: string) => this.#read("read", ({ file }) => file.get(sql, id) !== undefined);
    void isDrained;
    return look("x").then(async (x) => {
      for (let i = 0; x && i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
      return x && (await look("y"));
    });`,
    },
  ]),
  inLedger("at least one publication is not asked for", "drained is not drained before the first publication", [
    {
      file: publications,
      search: "SELECT EXISTS (SELECT 1 FROM outlast_publications)\n  AND NOT",
      replace: "SELECT NOT",
    },
  ]),
  ...inBothLayouts("a dead letter falls on a result", "2, result and dead letter", deadOverDone),
  inTwoFiles("a refused failure is acked or nacked", "3, lost by an ack", [
    { file: split, search: 'if (outcome.kind === "refused") return;', replace: "" },
  ]),
  inOneFile("a stale failure is taken", "3, lost by an ack", [
    { file: rules, search: "row.claim !== claim || row.generation !==", replace: "row.generation !==" },
  ]),
  inTwoFiles("a retry takes its own send for done", "4, lost by a retry: one killed", [
    {
      file: "src/results/sqlite/dead.ts",
      search: "SET state = 'pending', generation",
      replace: "SET state = 'sent', generation",
    },
  ]),
  ...inBothLayouts("messages of an old life are started", "4, lost by a retry: the message of", ignoresGeneration),
  inTwoFiles("messages are keyed by id alone", "4, lost by a retry: a message still", [
    { file: "src/results/sqlite/schema.ts", search: "UNIQUE (id, generation)", replace: "UNIQUE (id)" },
  ]),
  ...inBothLayouts("a slow publisher marks another generation", "4, lost by a retry: a slow publisher", [
    {
      file: publications,
      search: "(id, generation) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))",
      replace: "id IN (SELECT value ->> 0 FROM json_each(?))",
    },
  ]),
  ...inBothLayouts("suspects start in company", "5, innocents die", noSuspects),
  inOneFile("a lease is charged like a start", "5, innocents die", [
    {
      file: lease,
      search: "visible_at = ?3, claim_until = 0 WHERE",
      replace: "visible_at = ?3, claim = 'lease', claim_until = 0 WHERE",
    },
  ]),
  ...inBothLayouts("a running claim is charged", "6, false interruption", chargesRunning),
  inTwoFiles("a hand-back is nacked before it is recorded", "7, hand-back charged", [
    {
      file: split,
      search: "const outcomes = await this.#ledger.settle(",
      replace: `const back = settlements.filter(({ ending }) => ending.kind === "hand-back");
    await this.#broker.nack(back.map(({ delivery }) => delivery), 0);
    const outcomes = await this.#ledger.settle(`,
    },
  ]),
  inOneFile("a hand-back keeps its claim", "7, hand-back charged", [
    {
      file: rules,
      search: "(row.holder === rules.holder ? free(row, visibleAt) : row), ...noClaim };",
      replace: "(row.holder === rules.holder ? free(row, visibleAt) : row), claimUntil: 0 };",
    },
  ]),
  ...inBothLayouts("a repeated settlement is a new one", "8, double attempt", nothingRepeated),
  ...inBothLayouts("a late result replaces the one that stands", "8, false duplicate", resultsFall),
  inLedger("a late result is counted every time", "settling counts a late result once", [
    { file: rules, search: 'if (row.lateClaim === claim) return unstored({ kind: "late" });', replace: "" },
  ]),
  inLedger("what is unknown is called settled", "starting does not call settled", [
    {
      file: rules,
      search: 'return decided({ kind: "handed-back", delayMs: unknownDelayMs, isUnknown: true });',
      replace: 'void unknownDelayMs;\n    return decided({ kind: "settled" });',
    },
  ]),
  inLedger("lonely interruptions are not counted", "suspects buries what was interrupted too often alone", [
    { file: rules, search: "lonely: lonely + (row.isAlone ? 1 : 0),", replace: "lonely," },
  ]),
  inLedger("interruptions in company bury", "suspects does not bury an innocent", [
    { file: rules, search: "lonely: lonely + (row.isAlone ? 1 : 0),", replace: "lonely: lonely + 1," },
    { file: rules, search: "charged.lonely < rules.limits.lonelyInterruptions", replace: "charged.lonely < 2" },
  ]),
  inLedger("a suspect starts beside others", "suspects lets a suspect wait", [
    {
      file: rules,
      search: "return i === lonely ? begin(row, rules, true)",
      replace: "return i >= lonely ? begin(row, rules, true)",
    },
  ]),
  inLedger("a renewal revives a lost claim", "leases renews a lease without bringing", [
    { file: lease, search: "CASE WHEN claim_until > 0 THEN ?3 ELSE 0 END", replace: "?3" },
  ]),
  inLedger("a release takes what another holds", "leases releases neither", [
    { file: lease, search: "AND holder = ?2 AND claim_until = 0", replace: "AND ?2 <> '' AND claim_until = 0" },
  ]),
  inLedger("a failure ends another's lease", "settling accepts a failure and a hand-back from a claim that ran out", [
    {
      file: rules,
      search: "(row.holder === rules.holder ? free(row, visibleAt) : row), ...noClaim };",
      replace: "free(row, visibleAt), ...noClaim };",
    },
  ]),
  inLedger("a delay is not kept", "starting keeps a delay", [
    {
      file: rules,
      search: "if (row.holder !== rules.holder && row.visibleAt > rules.now) return",
      replace: "if (row.holder !== rules.holder && row.visibleAt > 9e15) return",
    },
  ]),
  {
    name: "batch a result is committed before its row",
    test: "test/queue/sqlite-kills.test.ts",
    case: "a worker killed before every statement leaves whole files, and loses and doubles nothing ('direct')",
    edits: [
      {
        file: "src/results/sqlite/settle.ts",
        search: "    return decision;\n  } catch",
        replace: '    file.run("COMMIT");\n    file.run("BEGIN IMMEDIATE");\n    return decision;\n  } catch',
      },
    ],
  },
  {
    name: "batch an ack comes before its result",
    test: "test/queue/queue-sqlite.test.ts",
    case: "work queue contract: SQLite queue, results in another SQLite file evictions gives what a killed worker held",
    edits: [
      {
        file: split,
        search: 'if (outcome.kind === "settled") replies.ack(delivery);',
        replace: 'if (outcome.kind !== "handed-back") replies.ack(delivery);',
      },
    ],
  },
  {
    name: "batch a repeated failure is charged again (random workers)",
    test: ledgerTest,
    case: "random workers: SQLite",
    edits: nothingRepeated,
  },
  {
    name: "batch a running claim is charged (random workers)",
    test: ledgerTest,
    case: "random workers: SQLite",
    edits: chargesRunning,
  },
  {
    name: "batch a late result stands (random workers)",
    test: ledgerTest,
    case: "random workers: SQLite",
    edits: resultsFall,
  },
];
