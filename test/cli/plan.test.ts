import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { planJson, planMatrixJson } from "../../src/cli/json/plan.ts";
import { runOutlast } from "../support/run-outlast.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outlast-plan-"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const job = ["plan", "--hours", "38", "--accelerator", "A100:8", "--region", "us-central1", "--runs", "500"];

async function refused(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runOutlast(args, { cwd });
  expect([code, stdout]).toEqual([2, ""]);
  return stderr;
}

describe("outlast plan", () => {
  test("says what to take, and the same in JSON of the documented shape", async () => {
    const text = await runOutlast([...job, "--deadline", "48"], { cwd });
    expect(text.code).toBe(0);
    const json = await runOutlast([...job, "--deadline", "48", "--json"], { cwd });
    const plan = planJson.parse(JSON.parse(json.stdout));
    expect(text.stdout.split("\n")[0]).toBe(plan.verdict);
    expect(plan.choice).toBe("flex-start");
    expect(text.stdout).not.toMatch(/NaN|Infinity|undefined/);
    expect(plan.warnings.join("\n")).toMatch(/must start within/);
  });

  test("takes measurements and prices from files", async () => {
    await writeFile(
      join(cwd, "history.json"),
      JSON.stringify({ preemptions: { events: 3, nodeHours: 40 }, uploadSeconds: [60, 80] }),
    );
    await writeFile(join(cwd, "prices.csv"), "machine,region,on_demand,spot,as_of\nmine,here,10,4,2026-11-10\n");
    const args = ["plan", "--hours", "10", "--machine", "mine", "--region", "here", "--runs", "500"];
    const { stdout } = await runOutlast([...args, "--prices", "prices.csv", "--history", "history.json", "--json"], {
      cwd,
    });
    const plan = planJson.parse(JSON.parse(stdout));
    const churn = plan.assumptions.find(({ name }) => name === "churn");
    expect(churn).toMatchObject({ kind: "measured", value: "0.0875 per node and hour (90 %: 0.02–0.19)" });
    expect(plan.assumptions.find(({ name }) => name === "upload of a save")).toMatchObject({
      kind: "measured",
      value: "1.2 min",
    });
    expect(plan.choice).toBe("spot");
  });

  test("writes a page that stands alone", async () => {
    const { code } = await runOutlast([...job, "--html", "plan.html"], { cwd });
    expect(code).toBe(0);
    expect(await readFile(join(cwd, "plan.html"), "utf8")).toContain("<svg");
  });

  test("prints the decision matrix", async () => {
    const { stdout } = await runOutlast(["plan", "--matrix", "--json"], { cwd });
    const { matrix } = planMatrixJson.parse(JSON.parse(stdout));
    const serving = matrix.filter(({ work }) => work === "latency-critical serving");
    expect(serving.find(({ advice }) => advice === "first choice")?.capacity).toBe("on-demand");
    expect(new Set(matrix.map(({ work }) => work)).size * 4).toBe(matrix.length);
  });

  test("refuses what cannot be, with the reason", async () => {
    expect(await refused(["plan"])).toMatch(/--hours is missing/);
    expect(await refused(["plan", "--hours", "-1", "--accelerator", "L4"])).toMatch(/at least 0/);
    expect(await refused(["plan", "--hours", "0", "--accelerator", "L4"])).toMatch(/above zero/);
    expect(await refused(["plan", "--hours", "1", "--accelerator", "Z9:1"])).toMatch(/no price is known for Z9:1/);
    expect(await refused(["plan", "--hours", "1", "--on-demand", "1", "--spot", "2"])).toMatch(/mislabelled/);
    expect(await refused(["plan", "--hours", "1", "--on-demand", "0"])).toMatch(/price .* is 0/);
    expect(await refused([...job, "--churn", "many"])).toMatch(/not a number/);
    expect(await refused([...job, "--shared", "2"])).toMatch(/from 0 to 1/);
    expect(await refused([...job, "--prices", "nowhere.csv"])).toMatch(/cannot be read/);
    await writeFile(join(cwd, "bad.json"), '{"preemptions": {"events": 1, "nodeHours": 0}}');
    expect(await refused([...job, "--history", "bad.json"])).toMatch(/no hours to divide by/);
  });
});
