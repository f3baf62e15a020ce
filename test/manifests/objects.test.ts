import { describe, expect, test } from "vitest";
import { commonFlags } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { isOutlastError } from "../../src/core/index.ts";
import {
  buildManifests,
  explainWorkload,
  type KubeObject,
  renderFiles,
  type WorkloadManifest,
} from "../../src/manifests/index.ts";
import { acceleratorName } from "../../src/plan/prices/accelerators.ts";
import { priceTable } from "../../src/plan/prices/table.ts";
import { settings } from "../../src/spec/index.ts";
import { findAccelerator, parseWorkloads } from "../../src/spec/workload/index.ts";
import { gpusOf } from "../../src/spec/workload/machines.ts";
import { faultsOf } from "./rules.ts";

const train =
  "kind: train\nname: bert\nimage: i\ncommand: [python, train.py]\ncheckpoint: {dir: /ckpt, store: gs://bkt/runs}\n";
const batch =
  "kind: batch\nname: infer\nimage: i\ncommand: [python, infer.py]\nqueue: pubsub://p/s?topic=t\nresults: {secret: db, key: url}\n";

function build(text: string): WorkloadManifest {
  const [made] = buildManifests(parseWorkloads(text, "outlast.yaml").workloads, { outlastImage: "outlast:test" });
  if (!made) throw new Error("nothing was made");
  expect(faultsOf(made)).toEqual([]);
  return made;
}

function find(made: WorkloadManifest, kind: string): KubeObject {
  const found = made.objects.find(({ object }) => object.kind === kind);
  if (!found) throw new Error(`no ${kind} among ${made.objects.map(({ object }) => object.kind).join(", ")}`);
  return found.object;
}

const kindsOf = ({ objects }: WorkloadManifest) => objects.map(({ object }) => object.kind);
const podOf = (made: WorkloadManifest, kind = "Job") =>
  (
    find(made, kind)["spec"] as {
      template: { metadata: { annotations: Record<string, string> }; spec: Record<string, never> };
    }
  ).template;
const wordsOf = (made: WorkloadManifest, kind = "Job"): string[] => {
  const [main] = podOf(made, kind).spec["containers"] as unknown as { command: string[]; args?: string[] }[];
  return [...(main?.command ?? []), ...(main?.args ?? [])];
};

describe("a training Job", () => {
  test("one pod: no index, evictions forgiven, 76 and 77 not", () => {
    const made = build(train);
    expect(find(made, "Job")["spec"]).toMatchObject({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
          { action: "Ignore", onExitCodes: { containerName: "main", operator: "In", values: [75] } },
          { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [76, 77] } },
        ],
      },
    });
    expect(wordsOf(made).join(" ")).toBe(
      "/outlast/outlast run --store gs://bkt/runs --dir /ckpt --run bert --grace 15s --ends-at-file /etc/outlast/annotations -- python train.py",
    );
  });

  test("shards carry their index, a gang's name service and one budget", () => {
    const made = build(`${train}parallelism: 4\npods: shards\n`);
    expect(wordsOf(made)).toContain("$(JOB_COMPLETION_INDEX)/4");
    expect(find(made, "Job")["spec"]).toMatchObject({
      completionMode: "Indexed",
      completions: 4,
      parallelism: 4,
      backoffLimit: 6,
    });
    expect(find(made, "Service")["spec"]).toMatchObject({ clusterIP: "None" });
    expect(podOf(made).spec).toMatchObject({ subdomain: "bert" });
  });

  test("independent runs have a budget each, and one that is lost fails its index alone", () => {
    const made = build(`${train}completions: 16\nparallelism: 4\npods: independent\n`);
    expect(wordsOf(made)).toContain("--per-index");
    expect(find(made, "Job")["spec"]).toMatchObject({
      completionMode: "Indexed",
      backoffLimitPerIndex: 6,
      podFailurePolicy: { rules: [{}, {}, { action: "FailIndex" }] },
    });
    expect(kindsOf(made)).not.toContain("Service");
  });

  test("settings beside the workload are passed on", () => {
    const made = build(`${train}run: {stopSignal: USR1, ignore: ["*.log", "tmp/**"], maxRate: 50MB/s, name: other}\n`);
    expect(wordsOf(made).join(" ")).toContain("--run other ");
    expect(wordsOf(made).join(" ")).toContain("--stop-signal USR1 --ignore *.log --ignore tmp/** --max-rate 50MB/s --");
  });

  test("the trainer's own variables are set, and secrets come from Secrets", () => {
    const made = build(
      train.replace(
        "checkpoint: {dir: /ckpt, store: gs://bkt/runs}",
        "checkpoint: {dir: /ckpt, store: gs://bkt/runs, interval: 500, variables: {dir: CHECKPOINT_DIR, interval: CHECKPOINT_INTERVAL}}\nenv: {HF_TOKEN: {secret: hf, key: token}, N: 3}",
      ),
    );
    expect(podOf(made).spec).toMatchObject({
      containers: [
        {
          env: [
            { name: "CHECKPOINT_DIR", value: "/ckpt" },
            { name: "CHECKPOINT_INTERVAL", value: "500" },
            { name: "HF_TOKEN", valueFrom: { secretKeyRef: { name: "hf", key: "token" } } },
            { name: "N", value: "3" },
          ],
        },
      ],
    });
  });

  test("a store on a claim needs no bucket, no identity", () => {
    const made = build(
      "kind: train\nname: t\nimage: i\ncommand: [x]\ncheckpoint: {dir: /ckpt, store: /store/runs}\nstorage: [{type: pvc, name: s, size: 1Ti, access: ReadWriteMany, storageClass: standard-rwx, mount: /store}]\n",
    );
    expect(made.steps.map(({ argv }) => argv.slice(0, 4).join(" "))).toEqual(["gcloud container node-pools create"]);
    expect(find(made, "ServiceAccount").metadata["annotations"]).toBeUndefined();
    expect(find(made, "PersistentVolumeClaim")["spec"]).toMatchObject({
      storageClassName: "standard-rwx",
      accessModes: ["ReadWriteMany"],
    });
  });

  test("a checkpoint directory inside a volume is made, since outlast wants it to be there", () => {
    const made = build(
      `${train.replace("dir: /ckpt", "dir: /data/run/ckpt")}storage: [{type: pvc, name: d, size: 1Gi, mount: /data}]\n`,
    );
    expect(podOf(made).spec).toMatchObject({
      containers: [
        {
          volumeMounts: expect.arrayContaining([
            { name: "storage-0", mountPath: "/data" },
            { name: "storage-0", mountPath: "/data/run/ckpt", subPath: "run/ckpt" },
          ]) as unknown,
        },
      ],
    });
  });

  test("an executable in the user's own image is not copied", () => {
    const made = build(`${train}outlast: {path: /usr/bin/outlast}\n`);
    expect(podOf(made).spec["initContainers"]).toBeUndefined();
    expect(wordsOf(made)[0]).toBe("/usr/bin/outlast");
  });
});

describe("capacity", () => {
  test("Spot: selector, toleration, a taint of the pool's own, low priority, the window's grace", () => {
    const made = build(`${train}accelerator: L4:2\n`);
    expect(podOf(made).spec).toMatchObject({
      terminationGracePeriodSeconds: 15,
      priorityClassName: "outlast-minus-5",
      nodeSelector: { "cloud.google.com/gke-spot": "true", "cloud.google.com/gke-accelerator": "nvidia-l4" },
    });
    const [pool] = made.steps;
    expect(pool?.argv).toEqual(
      expect.arrayContaining([
        "--spot",
        "--machine-type=g2-standard-24",
        "--accelerator=type=nvidia-l4,count=2",
        "--total-min-nodes=0",
        "--node-taints=cloud.google.com/gke-spot=true:NoSchedule",
      ]),
    );
  });

  test("Spot on Autopilot: the selector alone, and no pool", () => {
    const made = build(`${train}cluster: {mode: autopilot}\n`);
    expect(podOf(made).spec["tolerations"]).toBeUndefined();
    expect(made.terraform).toBe("");
    expect(podOf(made).metadata.annotations?.["cluster-autoscaler.kubernetes.io/safe-to-evict"]).toBeUndefined();
  });

  test("a longer Spot window is set on the pool and used by the pods", () => {
    const made = build(`${train}pool: {spotWindow: 60s}\ncluster: {version: 1.35.2-gke.1842000}\n`);
    expect(podOf(made).spec).toMatchObject({ terminationGracePeriodSeconds: 60 });
    expect(wordsOf(made)).toContain("60s");
    expect(made.steps[0]?.file?.text).toContain("shutdownGracePeriodSeconds: 120");
    expect(made.terraform).toContain("shutdown_grace_period_critical_pods_seconds = 60");
  });

  test("an existing pool is selected by its labels and tolerated, and not made", () => {
    const made = build(
      `${train}pool: {existing: true, labels: {provisioning-tier: preemptible}, taints: ["provisioning-tier=preemptible:NoSchedule"]}\n`,
    );
    expect(made.steps.some(({ argv }) => argv.includes("node-pools"))).toBe(false);
    expect(podOf(made).spec).toMatchObject({
      nodeSelector: { "provisioning-tier": "preemptible", "cloud.google.com/gke-spot": "true" },
      tolerations: expect.arrayContaining([
        { key: "provisioning-tier", operator: "Equal", value: "preemptible", effect: "NoSchedule" },
      ]) as unknown,
    });
  });

  test("plain flex-start: selector without toleration; on auto-provisioning the node's life is a selector too", () => {
    const made = build(`${train}capacity: flex-start\nmaxRunDuration: 12h\n`);
    expect(podOf(made).spec["nodeSelector"]).toEqual({ "cloud.google.com/gke-flex-start": "true" });
    expect(podOf(made).spec["tolerations"]).toBeUndefined();
    expect(made.steps[0]?.argv).toEqual(
      expect.arrayContaining([
        "--flex-start",
        "--max-run-duration=43200s",
        "--reservation-affinity=none",
        "--no-enable-autorepair",
        "--num-nodes=0",
      ]),
    );
    const auto = build(`${train}capacity: flex-start\nmaxRunDuration: 12h\ncluster: {autoProvisioning: true}\n`);
    expect(podOf(auto).spec["nodeSelector"]).toMatchObject({
      "cloud.google.com/gke-max-run-duration-seconds": "43200",
    });
  });

  test("queued flex-start: a request, its template, and pods that consume it", () => {
    const made = build(
      `${train}capacity: flex-start\nflexStart: {mode: queued}\naccelerator: H100:8\nparallelism: 2\npods: shards\nmaxRunDuration: 1d\n`,
    );
    expect(find(made, "ProvisioningRequest")["spec"]).toMatchObject({
      parameters: { maxRunDurationSeconds: "86400" },
      podSets: [{ count: 2 }],
    });
    expect(podOf(made).metadata.annotations).toMatchObject({
      "autoscaling.x-k8s.io/consume-provisioning-request": "bert",
    });
    expect(made.steps[0]?.argv).toContain("--enable-queued-provisioning");
    expect(JSON.stringify(podOf(made).spec["tolerations"])).toContain("gke-queued");
  });

  test("Kueue: a suspended Job with the node's life on the Job itself", () => {
    const made = build(
      `${train}capacity: flex-start\nflexStart: {mode: kueue}\naccelerator: H100:8\nmaxRunDuration: 1d\n`,
    );
    expect(find(made, "Job")["spec"]).toMatchObject({ suspend: true });
    expect(find(made, "Job").metadata["annotations"]).toEqual({
      "provreq.kueue.x-k8s.io/maxRunDurationSeconds": "86400",
    });
    expect(kindsOf(made)).toEqual(
      expect.arrayContaining([
        "ResourceFlavor",
        "ProvisioningRequestConfig",
        "AdmissionCheck",
        "ClusterQueue",
        "LocalQueue",
      ]),
    );
    const own = build(`${train}capacity: flex-start\nflexStart: {mode: kueue, localQueue: team}\n`);
    expect(find(own, "Job").metadata["labels"]).toMatchObject({ "kueue.x-k8s.io/queue-name": "team" });
    expect(kindsOf(own)).not.toContain("ClusterQueue");
  });

  test("a list is a ComputeClass, selected alone, without migration of running pods", () => {
    const made = build(
      `${train}capacity: [spot, flex-start, on-demand]\naccelerator: L4:1\npool: {spotWindow: 60s}\ncluster: {version: 1.36.1-gke.4000000}\n`,
    );
    expect(find(made, "ComputeClass")["spec"]).toMatchObject({
      priorities: [
        {
          spot: true,
          machineType: "g2-standard-8",
          nodeSystemConfig: { kubeletConfig: { shutdownGracePeriodSeconds: 120 } },
        },
        { flexStart: { enabled: true }, maxRunDurationSeconds: 604_800 },
        { spot: false },
      ],
    });
    expect(JSON.stringify(find(made, "ComputeClass"))).not.toContain("activeMigration");
    expect(podOf(made).spec["nodeSelector"]).toEqual({ "cloud.google.com/compute-class": "bert" });
  });

  test("on-demand: its pool by name", () => {
    const made = build(`${train}capacity: on-demand\naccelerator: L4:1\n`);
    expect(podOf(made).spec["nodeSelector"]).toMatchObject({
      "cloud.google.com/gke-nodepool": "on-demand-g2-standard-8",
    });
    expect(made.steps[0]?.argv).not.toContain("--spot");
  });
});

describe("batch workers", () => {
  test("a Job until drained: no completions, results from a Secret, the queue's commands", () => {
    const made = build(`${batch}parallelism: 8\n`);
    expect(find(made, "Job")["spec"]).toMatchObject({ parallelism: 8 });
    expect(find(made, "Job")["spec"]).not.toHaveProperty("completions");
    expect(wordsOf(made).join(" ")).toBe(
      "/outlast/outlast work --queue pubsub://p/s?topic=t --grace 15s --until-drained --ends-at-file /etc/outlast/annotations -- python infer.py",
    );
    expect(JSON.stringify(podOf(made))).toContain(
      '{"name":"OUTLAST_RESULTS","valueFrom":{"secretKeyRef":{"name":"db","key":"url"}}}',
    );
    const lines = made.steps.map(({ argv }) => argv.join(" "));
    expect(lines).toContain(
      "gcloud pubsub subscriptions create s --project=p --topic=t --ack-deadline=30 --message-retention-duration=7d --expiration-period=never",
    );
    expect(lines.join("\n")).not.toContain("dead-letter");
  });

  test("a ScaledJob by the current trigger", () => {
    const made = build(`${batch}workers: scaled-job\nparallelism: 20\nbatch: {chunk: 32}\n`);
    expect(find(made, "ScaledJob")["spec"]).toMatchObject({
      maxReplicaCount: 20,
      triggers: [
        {
          type: "prometheus",
          metadata: {
            threshold: "320",
            serverAddress: "https://monitoring.googleapis.com/v1/projects/p/location/global/prometheus",
          },
        },
      ],
    });
  });

  test("a Deployment for short items waits for more, and KEDA sets its size", () => {
    const made = build(`${batch}workers: deployment\nparallelism: 5\n`);
    expect(wordsOf(made, "Deployment")).not.toContain("--until-drained");
    expect(find(made, "Deployment")["spec"]).not.toHaveProperty("replicas");
    expect(podOf(made, "Deployment").spec["restartPolicy"]).toBeUndefined();
    expect(find(made, "ScaledObject")["spec"]).toMatchObject({ minReplicaCount: 0, maxReplicaCount: 5 });
  });
});

test("every flag we write is one that the command takes", () => {
  const specs = [
    `${train}parallelism: 2\npods: shards\nrun: {stopSignal: USR1, stopScope: tree, finishedWhen: /done, completeWhen: "*.ok", ignore: [x], notice: signal, maxRate: 1MB/s, region: r, restoreOnly: true, keep: 4}\nlog: {format: json, level: debug}\n`,
    `${train}completions: 2\npods: independent\n`,
    `${batch}batch: {chunk: 2, concurrency: 2, batch: true, lease: 1m, itemTimeout: 5m, maxResult: 1MiB, attempts: 3}\n`,
    batch.replace("command: [python, infer.py]", "batch: {http: http://127.0.0.1:8000/infer}"),
  ];
  for (const text of specs) {
    const words = wordsOf(build(text));
    const command = commands.find(({ name }) => name === words[1]);
    const known = [...(command?.flags ?? []), ...commonFlags].map((name) => `--${settings[name].flag}`);
    const end = words.indexOf("--");
    const flags = words.slice(0, end < 0 ? words.length : end).filter((word) => word.startsWith("--"));
    expect(flags.length).toBeGreaterThan(3);
    expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
  }
});

describe("several workloads in one file", () => {
  const two = `${train}accelerator: L4:1\n---\n${train.replace("bert", "gpt")}accelerator: L4:1\nparallelism: 3\npods: shards\n`;

  test("share what is the same, and a pool with room for all", () => {
    const made = buildManifests(parseWorkloads(two, "f").workloads, { outlastImage: "o" });
    expect(made.flatMap(kindsOf).filter((kind) => kind === "PriorityClass")).toHaveLength(1);
    const pools = made.flatMap(({ steps }) => steps).filter(({ argv }) => argv.includes("node-pools"));
    expect(pools).toHaveLength(1);
    expect(pools[0]?.argv).toContain("--total-max-nodes=4");
    const files = [...renderFiles(made).keys()];
    expect(files).toContain("node-pools.tf");
    expect(new Set(files).size).toBe(files.length);
  });

  test("a pool wanted in two ways is refused", () => {
    const text = two.replace("---", "pool: {name: p}\n---") + "pool: {name: p, zones: [us-central1-a]}\n";
    const error = (() => {
      try {
        return buildManifests(parseWorkloads(text, "f").workloads, { outlastImage: "o" });
      } catch (reason) {
        return reason;
      }
    })();
    expect(isOutlastError(error, "OUTLAST_CONFIG") && error.message).toContain(
      "node pool p is wanted in two different ways",
    );
  });
});

describe("explain", () => {
  const rows = (text: string) => new Map(explainWorkload(build(text).workload).map((row) => [row.what, row]));

  test("an eviction is nobody's failure, a bug is", () => {
    const told = rows(`${train}retries: 4\n`);
    expect(told.get("preemption (Spot)")).toMatchObject({
      restartedBy: "the Job",
      resumesFrom: "the newest good checkpoint in gs://bkt/runs",
    });
    expect(told.get("preemption (Spot)")?.pays).toContain("nobody");
    expect(told.get("out of memory")?.pays).toBe("one of the Job's 4 retries");
  });

  test("only what can happen is told", () => {
    const told = [...rows(`${train}capacity: on-demand\n`).keys()];
    expect(told.join()).not.toContain("Spot");
    expect(told.join()).not.toContain("expiry");
    expect([...rows(`${train}capacity: flex-start\n`).keys()]).toContain("node expiry (after 7 days)");
    expect([...rows(`${train}parallelism: 2\npods: shards\n`).keys()]).toContain("another shard goes");
  });
});

test("machines and prices agree on what carries what", () => {
  for (const { machine, accelerator, count } of priceTable) {
    const has = gpusOf(machine).find((one) => one.accelerator === accelerator);
    expect(has?.counts, machine).toContain(count);
  }
  for (const name of ["L4", "A100", "A100-80GB", "H100", "H100-mega", "H200", "B200", "T4", "V100"]) {
    expect(findAccelerator(name)).toBe(acceleratorName(name));
  }
});

test("rights for watch read no Secret and write no object but a pod's annotation and a lease", () => {
  const made = build(`${train}watch: true\n`);
  const rules = ["ClusterRole", "Role"].flatMap(
    (kind) => find(made, kind)["rules"] as unknown as { resources: string[]; verbs: string[] }[],
  );
  expect(rules.flatMap(({ resources }) => resources)).not.toContain("secrets");
  const writes = rules.filter(({ verbs }) => verbs.some((verb) => !["get", "list", "watch"].includes(verb)));
  expect(writes.map(({ resources }) => resources)).toEqual([["pods"], ["leases"]]);
});
