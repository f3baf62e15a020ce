import { describe, expect, test } from "vitest";
import { lintSources, SourceFile } from "../../src/lint/index.ts";
import { evaluate } from "../../src/lint/hcl/evaluate-hcl.ts";
import { parseHcl } from "../../src/lint/hcl/parse-hcl.ts";
import { podTemplatesOf } from "../../src/lint/placement/pod-template.ts";
import { readGcloudScript } from "../../src/lint/pools/from-gcloud.ts";
import { readTerraform } from "../../src/lint/pools/from-terraform.ts";
import { readSources } from "../../src/lint/read-sources.ts";
import { expandWord, parseShell, rawText } from "../../src/lint/shell/parse-shell.ts";

const yaml = (text: string) => readSources([new SourceFile("a.yaml", text)], {});
const words = (text: string) => parseShell(text).map((command) => command.words.map(rawText).join(" "));

describe("YAML", () => {
  test("documents, lists and JSON give objects with their places", () => {
    const { objects } = yaml(
      "# head\n---\napiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
    );
    expect(objects.map(({ name, node }) => [name, node.file.position(node.start)])).toEqual([
      ["a", { line: 6, column: 5 }],
      ["b", { line: 8, column: 1 }],
    ]);
    expect(
      readSources([new SourceFile("a.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"}}')], {}).objects,
    ).toMatchObject([{ name: "j" }]);
  });

  test("anchors, aliases and merge keys are resolved", () => {
    const { objects } = yaml(
      'apiVersion: v1\nkind: Pod\nmetadata: &m {name: a, labels: &l {x: "1"}}\nspec:\n  nodeSelector:\n    <<: *l\n    y: "2"\n  again: *m\n',
    );
    expect(objects[0]?.node.get("spec", "nodeSelector")?.record).toEqual({ y: "2", x: "1" });
    expect(objects[0]?.node.get("spec", "again", "name")?.text).toBe("a");
  });

  test("a file of aliases to aliases stays small", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`);
    const { findings } = lintSources([
      new SourceFile("a.yaml", `apiVersion: v1\nkind: Pod\nmetadata: {name: x}\na0: &a0 [x]\n${lines.join("\n")}\n`),
    ]);
    expect(findings).toEqual([]);
  });

  test("text that is nested beyond sense is told, not followed", () => {
    const deep = `apiVersion: v1\nkind: Pod\na: ${"[".repeat(100_000)}\n`;
    expect(lintSources([new SourceFile("a.yaml", deep)]).findings).toMatchObject([
      { rule: "yaml-invalid", message: "is nested too deeply to be read" },
    ]);
  });
});

test("pod templates are found in every kind that holds one, and not in CRDs or ConfigMaps", () => {
  const template = "template: {spec: {containers: [{name: c, image: i}]}}";
  const kinds: Record<string, string> = {
    "batch/v1 Job": `spec: {${template}}`,
    "batch/v1 CronJob": `spec: {jobTemplate: {spec: {${template}}}}`,
    "jobset.x-k8s.io/v1alpha2 JobSet": `spec: {replicatedJobs: [{name: w, template: {spec: {${template}}}}]}`,
    "apps/v1 Deployment": `spec: {${template}}`,
    "apps/v1 StatefulSet": `spec: {${template}}`,
    "apps/v1 DaemonSet": `spec: {${template}}`,
    "v1 Pod": "spec: {containers: [{name: c, image: i}]}",
    "ray.io/v1 RayCluster": `spec: {headGroupSpec: {${template}}}`,
    "ray.io/v1 RayJob": `spec: {rayClusterSpec: {workerGroupSpecs: [{${template}}]}}`,
    "ray.io/v1 RayService": `spec: {rayClusterConfig: {headGroupSpec: {${template}}}}`,
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": `spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: i}]}}}}`,
    "kubeflow.org/v1 PyTorchJob": `spec: {pytorchReplicaSpecs: {Worker: {${template}}}}`,
    "kubeflow.org/v2beta1 MPIJob": `spec: {mpiReplicaSpecs: {Launcher: {${template}}}}`,
    "trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime": `spec: {template: {spec: {replicatedJobs: [{name: n, template: {spec: {${template}}}}]}}}`,
    "argoproj.io/v1alpha1 Workflow": "spec: {templates: [{name: t, container: {image: i}}]}",
    "v1 PodTemplate": template,
    "example.com/v1 SomethingNew": `spec: {inner: {${template}}}`,
  };
  for (const [name, body] of Object.entries(kinds)) {
    const [apiVersion, kind] = name.split(" ");
    const { objects } = yaml(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n${body}\n`);
    const found = objects.flatMap(podTemplatesOf);
    expect([name, found.length, found[0]?.containers.length]).toEqual([name, 1, 1]);
  }
  const crd = yaml(
    `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {${template}}\n`,
  );
  expect(crd.objects.flatMap(podTemplatesOf)).toEqual([]);
});

describe("shell", () => {
  test("quotes, continuation lines, comments, redirections and here-documents", () => {
    expect(words("a 'b c' \"d $E\" \\\n  f # no\ncat <<EOF > x\ng h\nEOF\ni 2>&1 | j > /dev/null &\n")).toEqual([
      "a b c d ${E} f",
      "cat",
      "i",
      "j",
    ]);
  });

  test("keywords do not hide commands, and nesting is known", () => {
    const commands = parseShell("if a; then b; else c; fi; d && (e)");
    expect(
      commands.map((one) => [rawText(one.words[0] ?? { parts: [], start: 0, end: 0, isQuoted: false }), one.isNested]),
    ).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
      ["d", false],
      ["e", true],
    ]);
  });

  test("variables are filled in where they are known", () => {
    const [command] = parseShell("$A-${B:-b}-$(c)");
    const word = command?.words[0];
    expect(word && expandWord(word, new Map([["A", "a"]]))).toBeUndefined();
    expect(word && expandWord({ ...word, parts: word.parts.slice(0, 3) }, new Map([["A", "a"]]))).toBe("a-b");
  });
});

describe("pools of scripts", () => {
  test("flags in both spellings, variables, taints, labels, accelerators", () => {
    const script = `#!/bin/bash
export NAME="spot-l4" TAINT=cloud.google.com/gke-spot=true:NoSchedule
gcloud --project p container node-pools create $NAME --cluster=c --location r \\
  --machine-type g2-standard-8 --accelerator type=nvidia-l4,count=1 --spot \\
  --num-nodes 0 --enable-autoscaling --total-min-nodes=0 --total-max-nodes 8 \\
  --node-labels=team=ml,a=b --node-taints="$TAINT" # tail
gcloud container clusters create c --enable-autoprovisioning --max-cpu 4
gcloud container node-pools delete old
`;
    const { pools, hasAutoProvisioning } = readGcloudScript(new SourceFile("a.sh", script));
    expect(hasAutoProvisioning).toBe(true);
    expect(pools.map(({ name }) => name)).toEqual(["spot-l4", "default-pool"]);
    expect(pools[0]).toMatchObject({
      capacity: "spot",
      machineType: "g2-standard-8",
      accelerator: { type: "nvidia-l4", count: 1 },
      labels: { team: "ml", a: "b" },
      taints: [{ key: "cloud.google.com/gke-spot", value: "true", effect: "NoSchedule" }],
      staticNodes: 0,
      maxNodes: 8,
      hasAllLabels: true,
    });
  });

  test("what a variable hides is not known, and is not guessed", () => {
    const { pools } = readGcloudScript(
      new SourceFile("a.sh", "gcloud container node-pools create $1 --spot --node-taints=$2\n"),
    );
    expect(pools).toMatchObject([{ name: undefined, capacity: "spot", hasAllLabels: false }]);
  });
});

describe("pools of Terraform", () => {
  const read = (...texts: string[]) =>
    readTerraform(texts.map((text, i) => new SourceFile(i === 0 ? "m/main.tf" : `m/${i}.tfvars`, text))).pools;

  test("for_each over a variable, conditions, interpolation, tfvars", () => {
    const main = `
variable "pools" { default = {} }
variable "prefix" {
  type    = string
  default = "x"
}
locals { is_spot = true }
resource "google_container_node_pool" "p" {
  for_each = var.pools
  name     = "\${var.prefix}-\${each.key}"
  autoscaling {
    total_max_node_count = each.value.max
  }
  node_config {
    machine_type = lookup(each.value, "machine", "e2-standard-4")
    spot         = local.is_spot ? true : false
    labels       = merge({ a = "b" }, { c = "d" })
    metadata     = { script = <<-EOT
      } } } not ours
    EOT
    }
  }
}
`;
    expect(
      read(main, 'prefix = "prod"\npools = { one = { max = 3 }, two = { max = 4, machine = "g2-standard-8" } }\n'),
    ).toMatchObject([
      { name: "prod-one", capacity: "spot", machineType: "e2-standard-4", maxNodes: 3, labels: { a: "b", c: "d" } },
      { name: "prod-two", capacity: "spot", machineType: "g2-standard-8", maxNodes: 4 },
    ]);
  });

  test("what only Terraform knows is unknown", () => {
    const [pool] = read(
      'resource "google_container_node_pool" "p" {\n  name = data.x.name\n  node_config {\n    spot = var.nowhere\n    labels = module.y.labels\n  }\n}\n',
    );
    expect(pool).toMatchObject({ name: undefined, capacity: undefined, hasAllLabels: false });
  });

  test("expressions", () => {
    const value = (text: string) =>
      evaluate(parseHcl(`a = ${text}\n`).attributes[0]?.value ?? { kind: "unknown", start: 0 }, new Map());
    expect(value('[1, "b", { c = true }]')).toEqual([1, "b", { c: true }]);
    expect(value('"x" == "x" ? "yes" : "no"')).toBe("yes");
    expect(value('"x" == "y" ? "yes" : "no"')).toBe("no");
    expect(value('var.unknown ? "yes" : "no"')).toBeUndefined();
    expect(value("1 + 2")).toBeUndefined();
    expect(value('coalesce(null, "z")')).toBe("z");
  });
});

test("the list that gcloud prints is all pools there are", () => {
  const list = JSON.stringify([
    { name: "base", config: { machineType: "e2-standard-4" } },
    {
      name: "s",
      config: {
        machineType: "g2-standard-8",
        spot: true,
        taints: [{ key: "k", value: "v", effect: "NO_SCHEDULE" }],
        kubeletConfig: { shutdownGracePeriodSeconds: 120, shutdownGracePeriodCriticalPodsSeconds: 60 },
      },
    },
  ]);
  const { supply } = readSources([new SourceFile("pools.json", list)], {});
  expect(supply.isComplete).toBe(true);
  expect(supply.pools).toMatchObject([
    { name: "base", capacity: "onDemand" },
    {
      name: "s",
      capacity: "spot",
      taints: [{ key: "k", value: "v", effect: "NoSchedule" }],
      shutdownGrace: { total: 120, critical: 60 },
    },
  ]);
});
