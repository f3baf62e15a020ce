import { describe, expect, test } from "vitest";
import { isOutlastError } from "../../core/index.ts";
import { parseSpec } from "../file-schema.ts";
import { type Setting, settings as allSettings } from "../settings.ts";
import { describeKeys, type ParsedWorkloads, parseWorkloads } from "./index.ts";

const settings = allSettings as Readonly<Record<string, Setting<unknown>>>;

const file = "outlast.yaml";
const train = "kind: train\nname: bert\nimage: trainer:1\ncommand: [python, train.py]\n";
const checkpoint = "checkpoint: {dir: /ckpt, store: gs://bucket/runs}\n";
const good = train + checkpoint;

function refusal(text: string): string {
  try {
    parseWorkloads(text, file);
  } catch (error) {
    if (isOutlastError(error, "OUTLAST_CONFIG")) return `${error.message} (${error.hint})`;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The line a fault names, and its words. */
function warnings({ warnings: found }: ParsedWorkloads): string[] {
  return found.map(({ line, message }) => `${line}: ${message}`);
}

const only = (text: string) => {
  const [workload] = parseWorkloads(text, file).workloads;
  if (!workload) throw new Error("no workload");
  return workload;
};

describe("shape", () => {
  test("a short spec says enough", () => {
    expect(only(good)).toMatchObject({
      kind: "train",
      namespace: "default",
      capacity: ["spot"],
      graceSeconds: 15,
      priority: -5,
      parallelism: 1,
      checkpoint: { dir: "/ckpt", store: "gs://bucket/runs" },
    });
  });

  test("every fault is told at once, each with its line and what was meant", () => {
    const text =
      "kind: train\nname: Bert\nimage: t\ncommand: python\nacelerator: L4\ncheckpoint:\n  dri: /ckpt\n  store: gs://b/r\n";
    const told = refusal(text);
    expect(told).toContain('line 2: name: a name is made of lower-case letters, digits and "-"');
    expect(told).toContain("line 4: command: ");
    expect(told).toContain("line 5: unknown key acelerator");
    expect(told).toContain("line 7: unknown key checkpoint.dri");
    expect(told).toContain("did you mean accelerator?");
    expect(told).toContain("did you mean checkpoint.dir?");
  });

  test("a fault in an entry of a list names its line", () => {
    const text = `${good}storage:\n  - {type: pvc, name: data, size: 10Gi, mount: /data}\n  - type: pvc\n    siez: 10Gi\n`;
    expect(refusal(text)).toContain("outlast.yaml:9: unknown key storage.siez (did you mean storage.size?)");
  });

  test("broken YAML and twice the same key are told with their lines", () => {
    expect(refusal(`${train}image: other\ncheckpoint: [\n`)).toMatch(
      /line 5: this is not valid YAML: Map keys must be unique/,
    );
  });

  test("a file without a workload is refused, and one without kind is told what is missing", () => {
    expect(refusal("store: /mnt\n")).toContain("no workload");
    expect(refusal("name: x\nimage: y\n")).toContain("add kind: train, batch or serve");
  });

  test("faults of several documents come together, contradictions too", () => {
    const told = refusal(`${good}machine: a2-highgpu-1g\naccelerator: L4\n---\n${good}nmae: x\n`);
    expect(told).toContain("line 6: a a2-highgpu-1g carries nvidia-tesla-a100, not nvidia-l4");
    expect(told).toContain("line 14: unknown key nmae");
  });
});

describe("settings in the same file", () => {
  test("no key is both a workload's and a setting's", () => {
    const sections = Object.values(settings).flatMap(({ file: key }) => key?.split(".")[0] ?? []);
    const own = describeKeys().map(({ key }) => key.split(".")[0] ?? "");
    expect(own.filter((key) => sections.includes(key))).toEqual([]);
  });

  test("a workload's keys fill the settings of commands, and settings beside it win", () => {
    expect(parseSpec(`${good}grace: 10s\n`, file)).toEqual({
      run: "bert",
      store: "gs://bucket/runs",
      dir: "/ckpt",
      grace: "10s",
    });
    expect(parseSpec(`${good}store: /mnt\nrun: {dir: ./here, stopSignal: USR1}\n`, file)).toMatchObject({
      store: "/mnt",
      dir: "./here",
      stopSignal: "USR1",
      run: "bert",
    });
  });

  test("of several workloads none speaks for a command; the document of settings does", () => {
    expect(parseSpec(`store: /mnt\n---\n${good}---\n${good.replace("bert", "gpt")}`, file)).toEqual({ store: "/mnt" });
  });

  test("settings and what workloads share stand in one document, for all of them", () => {
    const text = `store: gs://bucket/all\nnamespace: ml\ncluster: {name: c, project: p}\n---\n${train}run: {dir: /ckpt, keep: 5}\ncluster: {location: us-central1}\n`;
    expect(only(text)).toMatchObject({
      namespace: "ml",
      cluster: { name: "c", project: "p", location: "us-central1" },
      checkpoint: { store: "gs://bucket/all", dir: "/ckpt", keep: 5 },
    });
  });

  test("a wrong value of a setting is found here, with its line", () => {
    expect(refusal(`${good}run:\n  stopSignal: KILL\n`)).toContain("outlast.yaml:7: run.stopSignal");
  });
});

describe("capacity follows tolerance, with a reason", () => {
  test.each([
    ["kind: train", "spot", /kind: train/],
    ["tolerance: scheduled", "flex-start", /tolerance: scheduled/],
    ["tolerance: critical", "on-demand", /must not be interrupted/],
    ["capacity: flex-start", "flex-start", /named/],
  ])("%s → %s", (line, capacity, reason) => {
    const workload = only(line === "kind: train" ? good : `${good}${line}\n`);
    expect(workload.capacity).toEqual([capacity]);
    expect(workload.capacityReason).toMatch(reason);
  });

  test("a server takes on-demand unless told otherwise", () => {
    expect(only("kind: serve\nname: api\nimage: i\nport: 80\n").capacity).toEqual(["on-demand"]);
  });
});

const batch = "kind: batch\nname: infer\nimage: i\ncommand: [python, infer.py]\n";
const pubsub = `${batch}queue: pubsub://p/s?topic=t\n`;
const results = "results: {secret: db, key: url}\n";
const zonal = "storage:\n  - {type: pvc, name: d, size: 1Gi, mount: /d, access: ReadWriteOnce}\n";

describe("contradictions are refused and name their line", () => {
  test.each([
    [
      "L4 on an a2",
      `${good}accelerator: L4:1\nmachine: a2-highgpu-1g\n`,
      ":7: a a2-highgpu-1g carries nvidia-tesla-a100, not nvidia-l4",
      "machine: g2-standard-8",
    ],
    [
      "2 L4 on g2-standard-8",
      `${good}accelerator: L4:2\nmachine: g2-standard-8\n`,
      ":7: a g2-standard-8 holds 1 × nvidia-l4, and a pod wants 2",
      "machine: g2-standard-24",
    ],
    [
      "9 GPUs on an 8-GPU machine",
      `${good}accelerator: H100:9\nmachine: a3-highgpu-8g\n`,
      ":7: a a3-highgpu-8g holds 8 × nvidia-h100-80gb",
      "no machine carries so many",
    ],
    [
      "9 GPUs on any machine",
      `${good}accelerator: H100:9\n`,
      ":6: no machine carries 9 × nvidia-h100-80gb; 8 is the most",
      "raise parallelism",
    ],
    [
      "a machine that does not exist",
      `${good}machine: g2-standard-80\n`,
      ":6: there is no machine type g2-standard-80",
      "g2-standard-8",
    ],
    ["an unknown accelerator", `${good}accelerator: L5\n`, ":6: unknown accelerator L5", "did you mean"],
    [
      "Spot and flex-start selectors",
      `${good}capacity: flex-start\npool:\n  labels: {cloud.google.com/gke-spot: "true"}\n`,
      ":8: Spot and flex-start are selected together",
      "capacity: [spot, flex-start]",
    ],
    [
      "zonal disk with fallback",
      `${good}capacity: [spot, on-demand]\ncluster: {location: us-central1}\n${zonal}`,
      ":9: the disk of d lives in one zone",
      "regional: true",
    ],
    [
      "RWO for several pods",
      `${good}pods: independent\nparallelism: 4\n${zonal}`,
      ":9: ReadWriteOnce lets one node mount d, and 4 pods",
      "ReadWriteMany",
    ],
    ["queue without results", pubsub, ":5: Pub/Sub holds no results", "results: {secret"],
    ["batch without queue", batch, ":1: a batch needs queue", "pubsub://"],
    [
      "grace above the window",
      `${good}grace: 60s\n`,
      ":6: grace is 60 s, and Spot leaves regular pods 15 s",
      "grace: 15s",
    ],
    ["priority below the cut-off", `${good}priority: -100\n`, ":6: below -10 a Standard cluster adds no node", "-5"],
    [
      "a store on the pod's own disk",
      `${train}checkpoint: {dir: /ckpt, store: /store}\n`,
      ":5: /store is on no volume",
      "gs://",
    ],
    [
      "a store on FUSE",
      `${train}checkpoint: {dir: /ckpt, store: /b/runs}\nstorage: [{type: fuse, bucket: bbb, mount: /b}]\n`,
      ":5: /b/runs is on a FUSE mount",
      "gs://bbb",
    ],
    ["no store", `${train}checkpoint: {dir: /ckpt}\n`, ":5: checkpoint.store is missing", "gs://"],
    ["pods of unknown relation", `${good}parallelism: 4\n`, ":6: several training pods", "pods: shards"],
    ["a secret in plain env", `${good}env:\n  HF_TOKEN: abc\n`, ":7: HF_TOKEN holds a secret", "secret: NAME"],
    [
      "a password in the queue's address",
      `${batch}queue: postgres://u:p@db/x\n`,
      ":5: queue holds a password",
      "secret: NAME",
    ],
    [
      "a checkpoint for a batch",
      `${pubsub}${results}${checkpoint}`,
      ":7: checkpoint means nothing for kind: batch",
      "kind: train",
    ],
    [
      "flex-start beyond 7 days",
      `${good}capacity: flex-start\nmaxRunDuration: 8d\n`,
      ":7: flex-start nodes live from 10 minutes to 7 days",
      "7d",
    ],
    [
      "queued flex-start in a list",
      `${good}capacity: [flex-start, on-demand]\nflexStart: {mode: queued}\n`,
      ":7: flex-start in mode queued cannot be part of a list",
      "plain",
    ],
    [
      "a shared SQLite file",
      `${batch}queue: sqlite:/d/q.db\nparallelism: 2\n`,
      ":5: a SQLite file cannot be shared by 2 pods",
      "postgres",
    ],
    [
      "an autoscaler without Pub/Sub",
      `${batch}queue: {secret: q, key: url}\nworkers: scaled-job\n`,
      ":6: scaled-job is scaled by the depth",
      "workers: job",
    ],
    ["the same name twice", `${good}---\n${good}`, ":8: two workloads are called default/bert", "name of its own"],
  ])("%s", (_, text, message, hint) => {
    const told = refusal(text);
    expect(told).toContain(message);
    expect(told).toContain(hint);
  });
});

describe("doubts are warnings and name their line", () => {
  test.each([
    [
      "zonal disk on Spot in a region",
      `${good}cluster: {location: us-central1}\n${zonal}`,
      "8: the disk of d lives in one zone",
    ],
    [
      "part of a machine",
      `${good}accelerator: L4:1\nmachine: g2-standard-96\n`,
      "6: a g2-standard-96 has 8 × nvidia-l4 and a pod takes 1",
    ],
    [
      "an interval nobody hears of",
      `${train}checkpoint:\n  dir: /ckpt\n  store: gs://bkt/r\n  interval: 10m\n`,
      "8: the interval reaches nobody",
    ],
    [
      "a longer window on an older cluster",
      `${good}pool:\n  spotWindow: 60s\ncluster: {version: 1.34.1-gke.100}\n`,
      "7: a longer window needs GKE 1.35.0-gke.1171000",
    ],
  ])("%s", (_, text, message) => {
    expect(warnings(parseWorkloads(text, file)).join("\n")).toContain(message);
  });

  test("what is right is let through without a word", () => {
    const specs = [
      `${good}accelerator: L4:2\nmachine: g2-standard-24\n`,
      `${good}accelerator: L4:2\n`,
      `${good}pool: {spotWindow: 60s}\ngrace: 60s\ncluster: {version: 1.35.0-gke.1171000}\n`,
      `${good}pods: independent\nparallelism: 4\ncompletions: 16\n`,
      `${good}capacity: [spot, flex-start, on-demand]\n`,
      `${pubsub}${results}parallelism: 8\nworkers: scaled-job\n`,
      `${good}priority: -10\n`,
      `${good}priority: -100\ncluster: {mode: autopilot}\n`,
      `${good}capacity: [spot, on-demand]\nstorage: [{type: pvc, name: d, size: 1Gi, mount: /d, regional: true}]\n`,
      `${good}env: {HF_TOKEN: {secret: hf, key: token}, PAD_TOKEN: "<pad>", MAX_TOKENS: 512}\n`,
    ];
    for (const text of specs) expect(warnings(parseWorkloads(text, file)), text).toEqual([]);
  });
});
