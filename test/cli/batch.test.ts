import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { jsonShapes } from "../../src/cli/json/index.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outlast-batch-"));
  await writeFile(join(cwd, "items.csv"), "id,x\na,1\nb,2\nbad,3\n");
  await writeFile(
    join(cwd, "handler.mjs"),
    `export default ({ id, data }) => {
      if (id === "bad") throw Object.assign(new Error("no picture"), { permanent: true });
      return { label: 'say "' + data.x + '"', score: 0.5 };
    };`,
  );
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const outlast = (...args: readonly string[]) => runOutlast(args, { cwd });
const queue = ["--queue", "sqlite:jobs.db"] as const;

/** What a command says with `--json`, checked against its documented shape. */
async function json(shape: string, ...args: readonly string[]): Promise<{ code: number; value: unknown }> {
  const { code, stdout, stderr } = await outlast(...args, ...queue, "--json");
  const value: unknown = JSON.parse(stdout || stderr);
  expect(jsonShapes[shape]?.safeParse(value).error).toBeUndefined();
  return { code, value };
}

async function workOff(): Promise<void> {
  const { code, stderr } = await startOutlast(["work", ...queue, "--handler", "handler.mjs", "--until-drained"], {
    cwd,
  }).ended;
  expect(code, stderr).toBe(0);
}

describe("a batch job by the command line", () => {
  test("publish, work, audit, dead, retry, export, purge", async () => {
    expect((await outlast("publish", "items.csv", ...queue, "--id", "id")).stdout).toBe("published 3 new of 3 rows\n");
    expect(await json("queue audit", "queue", "audit")).toMatchObject({
      code: 1,
      value: { ok: false, published: 3, missing: ["a", "b", "bad"], duplicates: [] },
    });
    await workOff();
    expect(await json("queue audit", "queue", "audit")).toMatchObject({
      code: 0,
      value: { ok: true, done: 2, dead: 1, missing: [] },
    });
    expect((await outlast("queue", "audit", ...queue)).stdout).toBe(
      "published 3: 2 done, 1 dead, 0 missing, 0 twice\nevery published item has exactly one result or a dead letter\n",
    );
    expect(await json("queue dead", "queue", "dead")).toMatchObject({
      value: {
        dead: [{ id: "bad", data: { x: "3" }, failures: 1, error: expect.stringContaining("no picture") as string }],
      },
    });
    expect((await outlast("queue", "dead", ...queue)).stdout).toMatch(/^ID +FAILURES .*\nbad .* Error: no picture/);
    expect(await json("queue retry", "queue", "retry", "bad", "nobody")).toMatchObject({
      value: { retried: 1, sent: 0 },
    });
    expect(await json("queue status, queue serve at /queue/depth", "queue", "status")).toMatchObject({
      value: { ready: 1, done: 2, dead: 0, total: 3, wanted: 1 },
    });
    await workOff();

    expect((await outlast("queue", "export", ...queue)).stdout).toBe(
      '{"id":"a","result":{"label":"say \\"1\\"","score":0.5}}\n{"id":"b","result":{"label":"say \\"2\\"","score":0.5}}\n',
    );
    expect(await json("queue export (with --out)", "queue", "export", "--out", "labels.csv")).toMatchObject({
      value: { results: 2, format: "csv" },
    });
    expect(await readFile(join(cwd, "labels.csv"), "utf8")).toBe(
      'id,label,score\na,"say ""1""",0.5\nb,"say ""2""",0.5\n',
    );

    const asked = await outlast("queue", "purge", ...queue);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("holds 3 items, 1 of them not done: they would be forgotten\n\nhint: add --yes");
    expect(await json("queue purge", "queue", "purge", "--yes")).toMatchObject({ value: { purged: 3 } });
    expect((await outlast("queue", "status", ...queue)).stdout).toContain(
      "0 a minute; time left: 0ms; workers wanted: 0",
    );
  });

  test("publish says what it would do, and takes its own --version", async () => {
    const { stdout } = await outlast("publish", "items.csv", ...queue, "--version", "v2", "--dry-run");
    expect(stdout).toMatch(
      /^would publish 3 of 3 rows; the first:\n\{"id":"[0-9a-f]{64}","data":\{"id":"a","x":"1"\}\}\n/,
    );
    expect(await json("publish", "publish", "items.csv", "--version", "v2")).toMatchObject({
      value: { publication: `${join(cwd, "items.csv")} version=v2`, added: 3, complete: true },
    });
    await outlast("publish", "items.csv", ...queue, "--id", "id", "--version", "1");
    const again = await outlast("publish", "items.csv", ...queue, "--id", "id", "--version", "2");
    expect(again.stdout).toContain("hint: with --id the id decides, not --version");
  });

  test("queue create prints what it would do, does it, and finds it done", async () => {
    const plan = await json("queue create", "queue", "create", "--dry-run");
    expect((plan.value as { plan: string[] }).plan.length).toBeGreaterThan(0);
    expect((await outlast("queue", "create", ...queue)).stdout).toBe(`sqlite:${join(cwd, "jobs.db")} is ready\n`);
    expect((await outlast("queue", "create", ...queue, "--dry-run")).stdout).toBe("nothing is missing\n");
  });

  test("queue serve answers autoscalers and Prometheus, on this machine only", async () => {
    await outlast("publish", "items.csv", ...queue);
    const server = startOutlast(
      ["queue", "serve", ...queue, "--listen", "0", "--chunks-per-worker", "1", "--chunk", "2"],
      { cwd },
    );
    try {
      let stderr = "";
      server.child.stderr?.on("data", (text: string) => {
        stderr += text;
      });
      await server.says(/"listening"/);
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(stderr)?.[0];
      const depth: unknown = await (await fetch(`${address}/queue/depth`)).json();
      expect(jsonShapes["queue status, queue serve at /queue/depth"]?.safeParse(depth).error).toBeUndefined();
      expect(depth).toMatchObject({ ready: 3, leased: 0, wanted: 2 });
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toContain("# TYPE outlast_queue_ready gauge\noutlast_queue_ready 3\n");
      expect(metrics).toContain("\noutlast_queue_done_total 0\n");
      expect((await fetch(`${address}/nowhere`)).status).toBe(404);
      expect((await fetch(`${address}/queue/depth`, { method: "POST" })).status).toBe(405);
    } finally {
      server.kill("SIGTERM");
    }
    expect((await server.ended).code).toBe(0);
  });
});

describe("wrong usage ends with 2, one error and a hint", () => {
  async function refusal(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await outlast(...args);
    expect(stdout).toBe("");
    return `${code} ${stderr.trim().replaceAll("\n", " ")}`;
  }

  test.each([
    [["publish", ...queue], '2 error: "outlast publish" got no SOURCE…  hint: write outlast publish SOURCE… [options]'],
    [["publish", "items.csv"], "2 error: missing --queue URL"],
    [["publish", "none.csv", ...queue], "2 error: cannot read none.csv: there is no such file"],
    [["publish", "items.csv", "--queue", "mysql://x"], "2 error: mysql://x is not the URL of a queue"],
    [["work", ...queue], "2 error: nobody was named to handle the items  hint: give a program after two dashes"],
    [["work", ...queue, "--handler", "handler.mjs", "--", "true"], "2 error: the items have two handlers"],
    [
      ["work", ...queue, "--handler", "a.ts", "--http", "http://x"],
      "2 error: --handler and --http cannot be given together",
    ],
    [["work", ...queue, "--handler", "none.ts"], "2 error: --handler none.ts: there is no such file"],
    [["work", ...queue, "--http", "x:1"], '2 error: --http "x:1" is not an HTTP address'],
    [["work", ...queue, "--lease", "10ms", "--", "true"], '2 error: --lease "10ms" is not long enough'],
    [["work", ...queue, "--max-result", "big", "--", "true"], '2 error: --max-result "big" is not a number of bytes'],
    [
      ["work", ...queue, "python", "x.py"],
      '2 error: unexpected argument "python"  hint: put two dashes before the program',
    ],
    [
      ["work", "--queue", "pubsub://my-project/images?topic=images", "--", "true"],
      "2 error: a Pub/Sub queue needs a database for its results",
    ],
    [
      ["queue"],
      '2 error: "outlast queue" needs one more word  hint: one of create, status, dead, retry, audit, export, purge, serve',
    ],
    [["queue", "serve", ...queue, "--listen", "here"], '2 error: --listen "here" is not an address'],
    [["queue", "retry", "a", "--missing", ...queue], "2 error: --missing looks for the ids itself"],
    [["queue", "export", "--json", ...queue], '"message":"--json needs --out: standard output cannot hold both"'],
    [["queue", "export", "--format", "files", ...queue], '2 error: results cannot be written as "files"'],
  ])("%j", async (args, wanted) => {
    expect(await refusal(...args)).toContain(wanted);
  });

  test("a queue that is not there is named by every command that only looks", async () => {
    for (const word of ["status", "dead", "audit"]) expect((await outlast("queue", word, ...queue)).code).not.toBe(0);
  });
});
