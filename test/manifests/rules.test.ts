import { expect, test } from "vitest";
import { buildManifests, type KubeObject, type WorkloadManifest } from "../../src/manifests/index.ts";
import { parseWorkloads } from "../../src/spec/workload/index.ts";
import { faultsOf } from "./rules.ts";

const [made] = buildManifests(
  parseWorkloads(
    "kind: train\nname: bert\nimage: i\ncommand: [x]\naccelerator: L4:1\ncheckpoint: {dir: /ckpt, store: gs://bkt/r}\nstorage: [{type: fuse, bucket: bkt, mount: /b}]\n",
    "f",
  ).workloads,
  { outlastImage: "o" },
);

/** The same objects with one edit of the Job, as JSON text. */
function spoiled(from: string | RegExp, to: string): string[] {
  if (!made) throw new Error("nothing was made");
  const objects = made.objects.map((one) => {
    if (one.object.kind !== "Job") return one;
    const before = JSON.stringify(one.object);
    const after = before.replace(from, to);
    expect(after).not.toBe(before);
    return { ...one, object: JSON.parse(after) as KubeObject };
  });
  return faultsOf({ workload: made.workload, objects } satisfies Pick<WorkloadManifest, "workload" | "objects">);
}

test.each([
  [/"values":\[75\]/, '"values":[75,77]', "77 is forgiven"],
  [/"values":\[75\]/, '"values":[74]', "75 is not forgiven"],
  [/"values":\[76,77\]/, '"values":[77,76]', "sorted"],
  ["DisruptionTarget", "Other", "forgives no disruption"],
  ['"podReplacementPolicy":"Failed",', "", "podReplacementPolicy may only be Failed"],
  ['"restartPolicy":"Never"', '"restartPolicy":"OnFailure"', "none of Never"],
  ['"parallelism":1', '"maxParallelism":1', "spec.maxParallelism: no such field"],
  ['"terminationGracePeriodSeconds":15', '"terminationGracePeriodSeconds":25', "a grace that Spot does not give"],
  [
    '"cloud.google.com/gke-spot":"true"',
    '"cloud.google.com/gke-spot":"true","cloud.google.com/gke-flex-start":"true"',
    "contradict",
  ],
  ['"key":"cloud.google.com/gke-spot"', '"key":"other"', "its taint not tolerated"],
  ['"key":"nvidia.com/gpu"', '"key":"other"', "GPUs are asked for"],
  ['"gke-gcsfuse/volumes":"true"', '"other":"true"', "FUSE without its sidecar"],
  ['"serviceAccountName":"bert"', '"serviceAccountName":"gone"', "the ServiceAccount is missing"],
  ['"nvidia.com/gpu":"1"', '"nvidia.com/gpu":1', "not a quantity"],
  ['"mountPath":"/ckpt"', '"mountPath":"/b"', "two mounts at one place"],
  [/"command":\["\/outlast\/outlast","run"/, '"command":["sh","-c"', "outlast is not the entry point"],
])("an object with %s → %s is found out", (from, to, fault) => {
  expect(spoiled(from, to).join("\n")).toContain(fault);
});
