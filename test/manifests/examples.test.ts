import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildManifests, renderFiles, renderStream, type WorkloadManifest } from "../../src/manifests/index.ts";
import { parseWorkloads } from "../../src/spec/workload/index.ts";
import { needs } from "../support/need.ts";
import { gcloudFlags } from "./gcloud-flags.ts";
import { readHcl } from "./hcl-reader.ts";
import { faultsOf } from "./rules.ts";

const folder = join(import.meta.dirname, "../../examples/specs");
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => name.replace(".yaml", ""));

function build(name: string): readonly WorkloadManifest[] {
  const { workloads, warnings } = parseWorkloads(readFileSync(join(folder, `${name}.yaml`), "utf8"), `${name}.yaml`);
  expect(warnings).toEqual([]);
  return buildManifests(workloads, { outlastImage: "outlast:test" });
}

/** Objects that a file's later workloads share with its first ones. */
function together(made: readonly WorkloadManifest[]): string[] {
  const objects = made.flatMap((one) => one.objects);
  return made.flatMap(({ workload, objects: own }) =>
    faultsOf({
      workload,
      objects: [...own, ...objects.filter((one) => !own.includes(one) && ["PriorityClass"].includes(one.object.kind))],
    }),
  );
}

/** Optional everywhere: reading our Terraform with our own reader is what every machine does. */
const hasTerraform = spawnSync("terraform", ["version"]).status === 0;
if (!hasTerraform) process.stderr.write("skipped: needs terraform: its fmt then reads the generated pools too\n");

describe.each(names)("examples/specs/%s.yaml", (name) => {
  test("becomes what it became before", async () => {
    await expect(renderStream(build(name))).toMatchFileSnapshot(`snapshots/${name}.yaml`);
    const pools = build(name)
      .map(({ terraform }) => terraform)
      .join("\n");
    if (pools.trim() !== "") await expect(pools).toMatchFileSnapshot(`snapshots/${name}.tf`);
  });

  test("yields objects that the platform takes", () => expect(together(build(name))).toEqual([]));

  test("its script is one that a shell can read, with flags that exist", () => {
    const script = renderFiles(build(name)).get("setup.sh") ?? "";
    execFileSync("sh", ["-n"], { input: script });
    for (const { argv } of build(name).flatMap(({ steps }) => steps)) {
      const [, ...words] = argv;
      const known = Object.entries(gcloudFlags).find(([command]) => words.join(" ").startsWith(`${command} `));
      expect(known, argv.join(" ")).toBeDefined();
      const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0] ?? "");
      expect(flags.filter((flag) => !known?.[1].includes(flag))).toEqual([]);
      expect(new Set(flags).size).toBe(flags.length);
    }
  });

  test.skipIf(!hasTerraform)("its Terraform is as `terraform fmt` would write it", () => {
    for (const { terraform } of build(name)) {
      const { status, stdout, stderr } = spawnSync("terraform", ["fmt", "-check", "-diff", "-"], {
        input: terraform,
        encoding: "utf8",
      });
      expect(status, stdout + stderr).toBe(0);
    }
  });

  test("its Terraform reads back, and says what the command says", () => {
    for (const { terraform, workload } of build(name)) {
      if (terraform === "") continue;
      const [pool] = readHcl(terraform);
      const node = pool?.blocks.find(({ head }) => head === "node_config");
      expect(pool?.attributes).toMatchObject({ name: workload.pool.name, cluster: workload.cluster.name });
      expect(node?.attributes["machine_type"]).toBe(workload.machine);
      const isSpot = workload.capacity[0] === "spot";
      expect(node?.attributes["spot"]).toBe(isSpot || undefined);
      const taints =
        node?.blocks.filter(({ head }) => head === "taint").map(({ attributes }) => attributes["key"]) ?? [];
      expect(taints.includes("cloud.google.com/gke-spot")).toBe(isSpot);
      if (workload.capacity[0] !== "flex-start") continue;
      expect(node?.attributes["flex_start"]).toBe(true);
      expect(node?.blocks.find(({ head }) => head === "reservation_affinity")?.attributes).toEqual({
        consume_reservation_type: "NO_RESERVATION",
      });
      expect(pool?.blocks.find(({ head }) => head === "management")?.attributes["auto_repair"]).toBe(false);
      expect(pool?.attributes["initial_node_count"]).toBe(0);
    }
  });
});

// Each of gcloud's help pages takes a second or more.
if (process.env["OUTLAST_SOAK"]) {
  const hasGcloud = spawnSync("gcloud", ["version"]).status === 0;
  describe.skipIf(!needs("gcloud", hasGcloud, "install the Google Cloud CLI"))("flags that gcloud knows", () => {
    test.each(Object.entries(gcloudFlags))(
      "%s",
      (command, flags) => {
        const { stdout } = spawnSync("gcloud", [...command.split(" "), "--help"], { encoding: "utf8" });
        expect(flags.filter((flag) => !stdout.includes(flag))).toEqual([]);
      },
      120_000,
    );
  });
}
