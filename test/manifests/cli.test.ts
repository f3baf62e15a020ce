import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { manifestExplainJson, manifestJson } from "../../src/cli/json/manifest.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { systemClock } from "../../src/core/index.ts";
import { parseWorkloads } from "../../src/spec/workload/index.ts";
import { runOutlast } from "../support/run-outlast.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outlast-manifest-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const spec =
  "kind: train\nname: bert\nimage: i\ncommand: [python, train.py]\ncheckpoint: {dir: /ckpt, store: gs://bkt/runs}\naccelerator: L4:1\nmachine: g2-standard-96\n";
const write = (text: string, name = "outlast.yaml") => writeFile(join(cwd, name), text);

describe("outlast manifest", () => {
  test("prints a stream that kubectl takes, commands in comments, and doubts on standard error", async () => {
    await write(spec);
    const { code, stdout, stderr } = await runOutlast(["manifest"], { cwd });
    expect(code).toBe(0);
    const kinds = (parseAllDocuments(stdout) as { toJS: () => { kind: string } }[]).map((one) => one.toJS().kind);
    expect(kinds).toEqual(["ServiceAccount", "PriorityClass", "Job"]);
    expect(stdout).toContain("#   gcloud container node-pools create spot-g2-standard-96");
    expect(stderr).toContain("a g2-standard-96 has 8 × nvidia-l4 and a pod takes 1");
    expect(JSON.parse(stderr.split("\n")[0] ?? "")).toMatchObject({ severity: "WARNING", line: 6 });
  });

  test("--json holds objects, commands, Terraform and warnings, in the documented shape", async () => {
    await write(spec, "other.yaml");
    const { stdout, stderr } = await runOutlast(["manifest", "other.yaml", "--json"], { cwd });
    expect(stderr).toBe("");
    const told = manifestJson.parse(JSON.parse(stdout));
    expect(told.workloads[0]).toMatchObject({ name: "bert", capacity: ["spot"], kind: "train" });
    expect(told.workloads[0]?.terraform).toContain("google_container_node_pool");
    expect(told.warnings).toEqual([expect.objectContaining({ line: 6 })]);
  });

  test("--split writes one file per object, a script and Terraform", async () => {
    await write(spec);
    const { code, stdout } = await runOutlast(["manifest", "--split", "deploy"], { cwd });
    expect(code).toBe(0);
    const files = (await readdir(join(cwd, "deploy"))).sort();
    expect(files).toEqual([
      "01-serviceaccount-bert.yaml",
      "02-priorityclass-outlast-minus-5.yaml",
      "03-job-bert.yaml",
      "node-pools.tf",
      "setup.sh",
    ]);
    expect(stdout.trim().split("\n").sort()).toEqual(files.map((name) => join("deploy", name)));
    expect((await stat(join(cwd, "deploy/setup.sh"))).mode & 0o111).not.toBe(0);
    expect(await readFile(join(cwd, "deploy/03-job-bert.yaml"), "utf8")).toContain("kind: Job");
  });

  test("--explain says who restarts it, from where, and whose budget pays", async () => {
    await write(spec);
    const { stdout } = await runOutlast(["manifest", "--explain"], { cwd });
    expect(stdout).toContain("preemption (Spot)\n  notice       SIGTERM, 15 s");
    const { stdout: json } = await runOutlast(["manifest", "--explain", "--json"], { cwd });
    expect(manifestExplainJson.parse(JSON.parse(json)).workloads[0]?.happenings.length).toBeGreaterThan(5);
  });

  test("contradictions end it with exit 2 and all their lines", async () => {
    await write(`${spec.replace("L4:1", "L4:9")}grace: 60s\n`);
    const { code, stdout, stderr } = await runOutlast(["manifest"], { cwd });
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("line 7: a g2-standard-96 holds 8 × nvidia-l4, and a pod wants 9");
    expect(stderr).toContain("line 8: grace is 60 s");
    expect(stderr).toContain("hint: ");
  });

  test("a missing file points at init", async () => {
    const { code, stderr } = await runOutlast(["manifest"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("cannot read outlast.yaml: there is no such file");
    expect(stderr).toContain("outlast init");
  });
});

test("a file with a workload serves `outlast run` too", async () => {
  await write(spec);
  const { stdout } = await runOutlast(["config", "explain", "--json"], { cwd });
  const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string; from: string }[] };
  expect(settings).toContainEqual({ name: "store", value: "gs://bkt/runs", from: "outlast.yaml" });
  expect(settings).toContainEqual({ name: "run", value: "bert", from: "outlast.yaml" });
});

describe("outlast init", () => {
  const read = () => readFile(join(cwd, "outlast.yaml"), "utf8");

  test("writes from flags what manifest takes", async () => {
    const flags = [
      "--image",
      "trainer:1",
      "--name",
      "bert",
      "--accelerator",
      "L4:2",
      "--store",
      "gs://bkt/runs",
      "--dir",
      "/out",
      "--pods",
      "4",
      "--cluster",
      "c",
      "--location",
      "us-central1",
      "--project",
      "p",
    ];
    const { code, stdout } = await runOutlast(["init", ...flags, "--", "python", "train.py", "--resume={resume}"], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toContain("wrote outlast.yaml");
    const [workload] = parseWorkloads(await read(), "outlast.yaml").workloads;
    expect(workload).toMatchObject({
      kind: "train",
      name: "bert",
      command: ["python", "train.py", "--resume={resume}"],
      machine: "g2-standard-24",
      parallelism: 4,
      pods: "independent",
      checkpoint: { dir: "/out", store: "gs://bkt/runs" },
      cluster: { name: "c", location: "us-central1", project: "p" },
    });
    expect((await runOutlast(["manifest"], { cwd })).code).toBe(0);
  });

  test.each([
    [
      "batch",
      ["--queue", "pubsub://p/s?topic=t", "--capacity", "spot", "--capacity", "on-demand", "--", "python", "infer.py"],
    ],
    ["serve", ["--kind", "serve"]],
  ])("%s", async (kind, flags) => {
    expect((await runOutlast(["init", "--image", "i", ...flags], { cwd })).code).toBe(0);
    expect(parseWorkloads(await read(), "outlast.yaml").workloads[0]?.kind).toBe(kind);
  });

  test("never replaces a file unasked", async () => {
    await write("store: /mnt\n");
    const args = ["init", "--image", "i", "--", "x"];
    const { code, stderr } = await runOutlast(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("outlast.yaml is there already");
    expect(await read()).toBe("store: /mnt\n");
    expect((await runOutlast(["init", "--yes", ...args.slice(1)], { cwd })).code).toBe(0);
  });

  test("without a terminal, what is missing is named", async () => {
    const { code, stderr } = await runOutlast(["init"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("missing --image");
  });

  test("at a terminal it asks a few questions, and what contradicts itself is not written", async () => {
    const asked: string[] = [];
    const answer = async (answers: readonly string[]) => {
      const rest = [...answers];
      const out = { isTTY: true, columns: 80, write: () => {} };
      asked.length = 0;
      return runCli(["init"], {
        stdout: out,
        stderr: out,
        env: {},
        cwd,
        clock: systemClock,
        onProgressSignal: () => () => {},
        ask: async (question) => {
          asked.push(question);
          return rest.shift() ?? "";
        },
      });
    };
    expect(await answer(["train", "bert", "i", "python train.py", "L4:9"])).toBe(2);
    await expect(read()).rejects.toThrow(/ENOENT/);
    expect(await answer(["", "bert", "i", `python "my train.py"`, "L4:1", ""])).toBe(0);
    expect(asked.length).toBe(6);
    expect(parseWorkloads(await read(), "f").workloads[0]).toMatchObject({
      kind: "train",
      command: ["python", "my train.py"],
    });
  });
});
