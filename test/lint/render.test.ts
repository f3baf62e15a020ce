import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gatherInputs } from "../../src/lint/index.ts";
import { needs } from "../support/need.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-render-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const gather = (PATH: string, render = true) =>
  gatherInputs({ paths: ["."], pools: [], cwd: dir, env: { PATH }, render, readStdin: async () => "" });

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(dir, path, ".."), { recursive: true });
  await writeFile(join(dir, path), text);
}

const job =
  "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n";

describe("a chart", () => {
  beforeEach(async () => {
    await put("chart/Chart.yaml", "name: c\nversion: 1.0.0\n");
    await put("chart/templates/job.yaml", "{{ if x }}\nkind: Job\n");
    await put("job.yaml", job);
  });

  test("is named as skipped where helm is not installed, and its templates are not read", async () => {
    const { files, skipped } = await gather("");
    expect(files.map(({ path }) => path)).toEqual(["job.yaml"]);
    expect(skipped).toEqual([{ path: "chart", why: "helm is not installed, so this chart was not rendered" }]);
  });

  test("is rendered by the helm that is on the PATH", async () => {
    await put("bin/helm", `#!/bin/sh\necho "# $@" | sed "s|$PWD/||"\necho 'apiVersion: v1'\necho 'kind: Pod'\n`);
    await chmod(join(dir, "bin/helm"), 0o755);
    const { files, skipped } = await gather(`${join(dir, "bin")}:/usr/bin:/bin`);
    expect(skipped).toEqual([]);
    expect(files.at(-1)).toMatchObject({ path: "chart (helm template)", rendered: "helm template" });
    expect(files.at(-1)?.text).toBe("# template release chart\napiVersion: v1\nkind: Pod\n");
  });

  test("that helm refuses is named with helm's words", async () => {
    await put("bin/helm", "#!/bin/sh\necho 'Error: no values' >&2\nexit 1\n");
    await chmod(join(dir, "bin/helm"), 0o755);
    expect((await gather(`${join(dir, "bin")}:/usr/bin:/bin`)).skipped).toEqual([
      { path: "chart", why: "helm failed: Error: no values" },
    ]);
  });
});

describe("a kustomization", () => {
  beforeEach(async () => {
    await put("base/kustomization.yaml", "resources: [job.yaml]\n");
    await put("base/job.yaml", job);
    await put("prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n");
    await put("prod/patch.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {backoffLimit: 0}\n");
  });

  test("without a renderer: its patches are left out", async () => {
    const { files, skipped } = await gather("");
    expect(files.map(({ path }) => path)).not.toContain("prod/patch.yaml");
    expect(skipped.map(({ path }) => path)).toEqual(["prod"]);
  });

  const kubectl = hasKubectl();
  describe.skipIf(!needs("kubectl (for kustomize)", kubectl, "apt-get install kubectl"))("with a real one", () => {
    test("the overlay is rendered, its base is not linted twice", async () => {
      const { files, skipped } = await gather(process.env["PATH"] ?? "");
      expect(skipped).toEqual([]);
      expect(files.filter(({ text }) => text.includes("kind: Job")).map(({ path }) => path)).toEqual([
        "prod (kustomize build)",
      ]);
      expect(files.at(-1)?.text).toContain("backoffLimit: 0");
    });
  });
});

test("standard input is read once, and cannot be fixed", async () => {
  const { files } = await gatherInputs({
    paths: ["-"],
    pools: [],
    cwd: dir,
    env: {},
    render: true,
    readStdin: async () => job,
  });
  expect(files).toMatchObject([{ path: "<stdin>", text: job, rendered: "standard input" }]);
});

test("a file of more than 10 MiB is named as skipped", async () => {
  await put("big.yaml", "x".repeat(10 * 1024 * 1024 + 1));
  expect((await gather("")).skipped).toEqual([{ path: "big.yaml", why: "larger than 10 MiB" }]);
});

function hasKubectl(): boolean {
  try {
    execFileSync("kubectl", ["kustomize", "--help"], { stdio: "ignore" });
    return true;
  } catch {
    // Not installed.
    return false;
  }
}
