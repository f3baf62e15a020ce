import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lintJson } from "../../src/cli/json/lint.ts";
import { rules } from "../../src/lint/index.ts";
import { runOutlast } from "../support/run-outlast.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-lint-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const job = (
  more: { readonly spec?: string; readonly grace?: string; readonly annotations?: string } = {},
) => `apiVersion: batch/v1
kind: Job
metadata:
  name: train${more.annotations ?? ""}
spec:${more.spec ?? ""}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: ${more.grace ?? "15"}
      nodeSelector:
        cloud.google.com/gke-spot: "true"
      containers:
        - name: main
          image: e/train:1
          command: ["python", "train.py", "--checkpoint-dir", "gs://b/r"]
`;
const forgiving = `
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget}]`;
const lint = (...args: string[]) => runOutlast(["lint", ...args], { cwd: dir });

describe("exit codes", () => {
  test("0 when nothing is found", async () => {
    await writeFile(join(dir, "job.yaml"), job({ spec: forgiving }));
    const { code, stdout } = await lint("job.yaml");
    expect(stdout).toBe("nothing found (1 pod template, 0 pools in 1 file)\n");
    expect(code).toBe(0);
  });

  test("1 for findings at or over the bar, 0 below it", async () => {
    await writeFile(join(dir, "job.yaml"), job({ spec: forgiving, grace: "60" }));
    expect((await lint("job.yaml")).code).toBe(0);
    expect((await lint("job.yaml", "--fail-on", "warning")).code).toBe(1);
    await writeFile(join(dir, "job.yaml"), job());
    expect((await lint("job.yaml")).code).toBe(1);
    expect((await lint("job.yaml", "--fail-on", "never")).code).toBe(0);
  });

  test("2 for a path that is not there, for no path, and for nothing to lint", async () => {
    expect(await lint("gone.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("gone.yaml does not exist"),
    });
    expect((await lint()).code).toBe(2);
    await writeFile(join(dir, "values.yaml"), "a: 1\n");
    expect(await lint(".")).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing to lint in .") });
    expect((await lint(".", "--allow-empty")).code).toBe(0);
  });
});

test("pretty shows the place, the line, a caret, the related place and the fix", async () => {
  await writeFile(join(dir, "job.yaml"), job({ spec: forgiving, grace: "120" }));
  expect((await lint("job.yaml")).stdout).toMatchInlineSnapshot(`
    "job.yaml:13:38 warning 15 s arrive of the 120 s you asked for when a Spot node is taken; the rest is cut off [grace-exceeds-spot-window]
     13 |       terminationGracePeriodSeconds: 120
        |                                      ^^^
       job.yaml:15:9 it selects cloud.google.com/gke-spot
       fix: set it to 15 (--fix=unsafe)

    1 warning (1 pod template, 0 pools in 1 file)
    "
  `);
});

test("JSON has the documented shape, by --json and by --format json", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  const { stdout } = await lint("job.yaml", "--json");
  expect((await lint("job.yaml", "--format", "json")).stdout).toBe(stdout);
  const { findings, counts } = lintJson.parse(JSON.parse(stdout));
  expect(counts).toEqual({ files: 1, objects: 1, templates: 1, pools: 0, known: 0 });
  expect(findings).toMatchObject([
    {
      rule: "job-evictions-burn-backoff",
      severity: "error",
      file: "job.yaml",
      line: 2,
      column: 7,
      object: "Job/train",
    },
  ]);
  expect(findings[0]?.message).toContain("fails at the 7th eviction");
});

test("SARIF 2.1.0 declares every rule and names every place", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  const sarif = JSON.parse((await lint("job.yaml", "--format", "sarif")).stdout) as {
    version: string;
    runs: {
      tool: { driver: { rules: { id: string }[] } };
      results: {
        ruleId: string;
        ruleIndex: number;
        level: string;
        locations: unknown[];
        partialFingerprints: object;
      }[];
    }[];
  };
  expect(sarif.version).toBe("2.1.0");
  const [run] = sarif.runs;
  expect(run?.results).toMatchObject([
    {
      ruleId: "job-evictions-burn-backoff",
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "job.yaml" },
            region: { startLine: 2, startColumn: 7, endLine: 2, endColumn: 10 },
          },
        },
      ],
    },
  ]);
  expect(run?.tool.driver.rules[run.results[0]?.ruleIndex ?? -1]?.id).toBe("job-evictions-burn-backoff");
});

test("GitHub annotations escape what would break them", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  expect((await lint("job.yaml", "--format", "github")).stdout).toBe(
    '::error file=job.yaml,line=2,col=7,endLine=2,endColumn=10,title=job-evictions-burn-backoff::Job "train" fails at the 7th eviction: evictions count as failures and backoffLimit is 6 unless set\n',
  );
});

describe("suppressions", () => {
  test("a comment above or on the line, with a reason", async () => {
    await writeFile(
      join(dir, "a.yaml"),
      job().replace("kind: Job", "kind: Job # outlast-ignore job-evictions-burn-backoff: short run"),
    );
    await writeFile(
      join(dir, "b.yaml"),
      job().replace("kind: Job", "# outlast-ignore job-evictions-burn-backoff: short run\nkind: Job"),
    );
    const { stdout, code } = await lint(".", "--json");
    const { findings, suppressed } = lintJson.parse(JSON.parse(stdout));
    expect(findings).toEqual([]);
    expect(suppressed.map(({ reason }) => reason)).toEqual(["short run", "short run"]);
    expect(code).toBe(0);
  });

  test("an annotation on the object", async () => {
    const annotations = "\n  annotations:\n    outlast.dev/ignore: job-evictions-burn-backoff=short run";
    await writeFile(join(dir, "a.yaml"), job({ annotations }));
    expect((await lint(".")).stdout).toBe("nothing found, 1 suppressed (1 pod template, 0 pools in 1 file)\n");
  });

  test("an entry in the configuration", async () => {
    await writeFile(join(dir, "a.yaml"), job());
    await writeFile(
      join(dir, "outlast.yaml"),
      'lint:\n  ignore:\n    - "job-evictions-burn-backoff Job/train: short run"\n',
    );
    expect((await lint("a.yaml")).stdout).toContain("nothing found, 1 suppressed");
  });

  test("without a reason it is not honoured, and that is told", async () => {
    await writeFile(
      join(dir, "a.yaml"),
      job().replace("kind: Job", "kind: Job # outlast-ignore job-evictions-burn-backoff"),
    );
    const { findings } = lintJson.parse(JSON.parse((await lint(".", "--json")).stdout));
    expect(findings.map(({ rule }) => rule).sort()).toEqual([
      "job-evictions-burn-backoff",
      "suppression-without-reason",
    ]);
  });

  test("one that covers nothing, or names no rule, is told", async () => {
    await writeFile(
      join(dir, "a.yaml"),
      `# outlast-ignore grace-zero: was once\n# outlast-ignore grace-zeroo: a slip\n${job({ spec: forgiving })}`,
    );
    const { findings } = lintJson.parse(JSON.parse((await lint(".", "--json")).stdout));
    expect(findings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      "suppression-unused: nothing here is found by grace-zero any more; take the suppression out",
      'suppression-unused: there is no rule "grace-zeroo"; did you mean grace-zero?',
    ]);
  });
});

test("a baseline holds what was there before, and new findings still count", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  expect((await lint("job.yaml", "--baseline", "known.json", "--write-baseline")).code).toBe(0);
  const { code, stderr } = await lint("job.yaml", "--baseline", "known.json");
  expect(code).toBe(0);
  expect(stderr).toContain("1 findings are in the baseline");
  // Lines move, findings stay known; another one is new.
  await writeFile(join(dir, "job.yaml"), `# moved\n\n${job({ grace: "0" })}`);
  const later = await lint("job.yaml", "--baseline", "known.json", "--json");
  expect(lintJson.parse(JSON.parse(later.stdout)).findings.map(({ rule }) => rule)).toEqual(["grace-zero"]);
  expect(later.code).toBe(1);
  await writeFile(join(dir, "known.json"), "{}");
  expect((await lint("job.yaml", "--baseline", "known.json")).code).toBe(2);
});

describe("fixes", () => {
  const broken = job({ spec: forgiving, grace: "60 # for drains" }).replace('"true"', "true # yes");

  test("--fix applies the safe ones and keeps comments", async () => {
    await writeFile(join(dir, "job.yaml"), broken);
    expect((await lint("job.yaml", "--fix")).stderr).toContain("mended job.yaml: 1 fix");
    const text = await readFile(join(dir, "job.yaml"), "utf8");
    expect(text).toBe(broken.replace("true # yes", '"true" # yes'));
  });

  test("--fix=unsafe applies all", async () => {
    await writeFile(join(dir, "job.yaml"), broken);
    expect((await lint("job.yaml", "--fix=unsafe")).code).toBe(0);
    const text = await readFile(join(dir, "job.yaml"), "utf8");
    expect(text).toBe(broken.replace("true # yes", '"true" # yes').replace("60 # for", "15 # for"));
  });

  test("--diff shows and changes nothing", async () => {
    await writeFile(join(dir, "job.yaml"), broken);
    const { stdout } = await lint("job.yaml", "--fix", "--diff");
    expect(stdout).toContain(
      '-        cloud.google.com/gke-spot: true # yes\n+        cloud.google.com/gke-spot: "true" # yes\n',
    );
    expect(await readFile(join(dir, "job.yaml"), "utf8")).toBe(broken);
  });
});

test("--explain says what a rule is about, and helps with its name", async () => {
  expect((await lint("--explain", "trap-exit-zero-in-job")).stdout).toContain(
    "A Job that exits 0 on SIGTERM is counted as done.",
  );
  expect(await lint("--explain", "trap-exit-zero-job")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("did you mean trap-exit-zero-in-job?"),
  });
});

test("pools given by --pools are all there are", async () => {
  await writeFile(
    join(dir, "job.yaml"),
    job({ spec: forgiving }).replace('cloud.google.com/gke-spot: "true"', "cloud.google.com/gke-nodepool: gone"),
  );
  await writeFile(join(dir, "infra.sh"), "gcloud container node-pools create base --machine-type e2-standard-4\n");
  expect((await lint("job.yaml", "infra.sh")).stdout).toContain("nothing found");
  expect((await lint("job.yaml", "--pools", "infra.sh")).stdout).toContain('there is no node pool "gone" among base');
});

test("the autopilot profile knows that a selector alone gives Spot, and nothing else does", async () => {
  await writeFile(
    join(dir, "job.yaml"),
    job()
      .replace("      nodeSelector:\n", "")
      .replace('        cloud.google.com/gke-spot: "true"\n', '      tolerations: [{key: "x", operator: Exists}]\n'),
  );
  expect((await lint("job.yaml", "--profile", "autopilot")).stdout).toContain("nothing found");
});

test("a window of 120 s is measured by the version of the cluster", async () => {
  const kubelet =
    "kubelet_config {\n      shutdown_grace_period_seconds = 120\n      shutdown_grace_period_critical_pods_seconds = 60\n    }";
  await writeFile(
    join(dir, "main.tf"),
    `resource "google_container_node_pool" "p" {\n  name = "p"\n  node_config {\n    spot = true\n    ${kubelet}\n  }\n}\n`,
  );
  expect((await lint("main.tf", "--gke-version", "1.35.0-gke.1171000")).stdout).toContain("nothing found");
  expect((await lint("main.tf", "--gke-version", "1.34")).stdout).toContain(
    "a window of 120 s needs GKE 1.35.0-gke.1171000, this is 1.34",
  );
  expect((await lint("main.tf", "--gke-version", "latest")).code).toBe(2);
});

test("what the linter itself gets wrong is exit code 3, not a finding, and names the rule", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  const rule = rules.find(({ id }) => id === "grace-zero");
  const saved = rule?.template;
  Object.assign(rule ?? {}, {
    template: () => {
      throw new Error("a fault");
    },
  });
  try {
    expect(await lint("job.yaml")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("the rule grace-zero failed (Error: a fault)"),
    });
  } finally {
    Object.assign(rule ?? {}, { template: saved });
  }
});

test("files of other systems keep their line ends when they are mended", async () => {
  const text = job().replaceAll("\n", "\r\n");
  await writeFile(join(dir, "job.yaml"), text);
  expect((await lint("job.yaml", "--fix=unsafe")).code).toBe(0);
  const mended = await readFile(join(dir, "job.yaml"), "utf8");
  expect(mended).toContain("podFailurePolicy:\r\n    rules:\r\n");
  expect(mended.replaceAll("\r\n", "")).not.toContain("\n");
});

test("a file that cannot be written is told by its name", async () => {
  await writeFile(join(dir, "job.yaml"), job());
  expect(await lint("job.yaml", "--baseline", "no/such/known.json", "--write-baseline")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no/such/known.json cannot be written"),
  });
});

test("a link to nowhere is named as skipped, and the rest is linted", async () => {
  await writeFile(join(dir, "job.yaml"), job({ spec: forgiving }));
  await symlink(join(dir, "gone.yaml"), join(dir, "link.yaml"));
  expect(await lint(".")).toMatchObject({ code: 0, stderr: "skipped link.yaml: cannot be read (ENOENT)\n" });
});
