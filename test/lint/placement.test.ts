import { describe, expect, test } from "vitest";
import { SourceFile } from "../../src/lint/index.ts";
import { place } from "../../src/lint/placement/place.ts";
import { podTemplatesOf } from "../../src/lint/placement/pod-template.ts";
import { readSources } from "../../src/lint/read-sources.ts";

/** Verdicts for a pod spec, as `spot/flex-start/on-demand`. */
function verdicts(spec: string, files: Readonly<Record<string, string>> = {}, profile?: "autopilot"): string {
  const sources = [
    new SourceFile(
      "k8s/pod.yaml",
      `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: i}]\n${spec}`,
    ),
    ...Object.entries(files).map(([path, text]) => new SourceFile(path, text)),
  ];
  const { objects, supply } = readSources(sources, { profile });
  const [template] = objects.flatMap(podTemplatesOf);
  if (!template) throw new Error("no template");
  const { reach } = place(template, supply);
  return `${reach.spot.verdict}/${reach.flexStart.verdict}/${reach.onDemand.verdict}`;
}

const select = (key: string, value: string) => `  nodeSelector: {${key}: "${value}"}\n`;
const tolerateSpot = "  tolerations: [{key: cloud.google.com/gke-spot, operator: Exists}]\n";
const pools = (complete: boolean) => `complete: ${complete}\npools:
  - {name: base, capacity: on-demand, machineType: e2-standard-4, labels: {tier: base}}
  - {name: cheap, capacity: spot, machineType: e2-standard-4, taints: ["cloud.google.com/gke-spot=true:NoSchedule"]}
  - {name: open, capacity: spot, machineType: e2-standard-4, labels: {tier: open}}
  - {name: flex, capacity: flex-start, machineType: g2-standard-8, labels: {tier: gpu}}
`;

describe("by labels that GKE sets", () => {
  test.each([
    [select("cloud.google.com/gke-spot", "true"), "must/never/never"],
    [select("cloud.google.com/gke-provisioning", "spot"), "must/never/never"],
    [select("cloud.google.com/gke-preemptible", "true"), "must/never/never"],
    [select("cloud.google.com/gke-flex-start", "true"), "never/must/never"],
    [select("cloud.google.com/gke-provisioning", "standard"), "never/never/must"],
    ["", "unknown/unknown/unknown"],
    [tolerateSpot, "may/unknown/unknown"],
    [
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cloud.google.com/gke-spot, operator: DoesNotExist}]}]}}}\n",
      "never/unknown/unknown",
    ],
    [
      "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: cloud.google.com/gke-spot, operator: In, values: ['true']}]}}]}}\n",
      "may/unknown/unknown",
    ],
    [
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cloud.google.com/gke-provisioning, operator: In, values: [spot, standard]}]}]}}}\n",
      "unknown/never/unknown",
    ],
  ])("%s", (spec, wanted) => {
    expect(verdicts(spec)).toBe(wanted);
  });
});

describe("by pools", () => {
  test.each([
    ["named", select("cloud.google.com/gke-nodepool", "open"), true, "must/never/never"],
    ["named, on demand", select("cloud.google.com/gke-nodepool", "base"), false, "never/never/must"],
    ["named, unknown", select("cloud.google.com/gke-nodepool", "other"), false, "unknown/unknown/unknown"],
    ["by a label of their own", select("tier", "open"), true, "must/never/never"],
    ["by a label, more pools may exist", select("tier", "open"), false, "may/unknown/unknown"],
    ["anything without a taint", "", true, "may/never/may"],
    ["tolerated as well", tolerateSpot, true, "may/never/may"],
  ])("%s", (_, spec, complete, wanted) => {
    expect(verdicts(spec, { "pools.yaml": pools(complete) })).toBe(wanted);
  });

  test("pools of another project in the same tree decide nothing", () => {
    const script = (name: string) => `gcloud container node-pools create ${name} --spot --machine-type e2-standard-4\n`;
    expect(verdicts("", { "k8s/pools.sh": script("a") })).toBe("may/unknown/unknown");
    expect(verdicts("", { "other/pools.sh": script("a"), "third/pools.sh": script("b") })).toBe(
      "unknown/unknown/unknown",
    );
  });
});

describe("by ComputeClass", () => {
  const wants = select("cloud.google.com/compute-class", "c");
  const of = (priorities: string, more = "") => ({
    "class.yaml": `apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: c}\nspec:\n  whenUnsatisfiable: DoNotScaleUp\n${more}  priorities: ${priorities}\n`,
  });
  test.each([
    ["[{machineFamily: n2, spot: true}]", "must/never/never"],
    ["[{machineFamily: n2, spot: true}, {machineFamily: n2}]", "may/never/may"],
    ["[{machineFamily: n2, flexStart: {enabled: true}}]", "never/must/never"],
    ["[{nodepools: [elsewhere]}]", "unknown/unknown/unknown"],
  ])("%s", (priorities, wanted) => {
    expect(verdicts(wants, of(priorities))).toBe(wanted);
  });
  test("one that is not among the files decides nothing", () => {
    expect(verdicts(wants)).toBe("unknown/unknown/unknown");
  });
});

test("Autopilot gives Spot to those who select it, and to no one else", () => {
  expect(verdicts("", {}, "autopilot")).toBe("never/never/must");
  expect(verdicts(select("cloud.google.com/gke-spot", "true"), {}, "autopilot")).toBe("must/never/never");
});
