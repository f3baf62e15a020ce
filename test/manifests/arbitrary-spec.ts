import fc from "fast-check";

/** Specs of every kind that are mostly valid: what contradicts itself is refused by the parser and told apart by the test. */
const word: fc.Arbitrary<string> = fc.stringMatching(/^[a-z][a-z0-9-]{0,18}[a-z0-9]$/);
const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12, unit: "grapheme" }),
  fc.constantFrom(
    "yes",
    "on",
    "1e3",
    "0x1f",
    "012",
    "2026-01-01",
    "12:30:45",
    "null",
    "~",
    "a: b",
    "# x",
    "- y",
    "${x}",
    "it's",
    '"q"',
    " lead",
    "tail ",
    "multi\nline",
    "{resume}",
    "$(JOB_COMPLETION_INDEX)",
  ),
);
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });

const capacities = fc.constantFrom<string | string[]>(
  "spot",
  "flex-start",
  "on-demand",
  ["spot", "on-demand"],
  ["spot", "flex-start", "on-demand"],
  ["flex-start", "on-demand"],
);
const accelerators = fc.constantFrom(
  "L4:1",
  "L4:2",
  "nvidia-l4:8",
  "A100:8",
  "H100:8",
  "T4:2",
  "a100-80gb:4",
  "B200:8",
);
const secretRef = fc.record({ secret: word, key: word });

const storage = fc.oneof(
  fc.record({ type: fc.constant("gcs"), bucket: fc.constantFrom("data-one", "data-two") }),
  fc.record({
    type: fc.constant("fuse"),
    bucket: fc.constantFrom("data-one", "files-bucket"),
    mount: fc.constantFrom("/mnt/a", "/mnt/b"),
    readOnly: fc.boolean(),
  }),
  fc.record({
    type: fc.constant("pvc"),
    name: word,
    size: fc.constantFrom("10Gi", "2Ti"),
    access: fc.constantFrom("ReadWriteMany", "ReadWriteOnce"),
    mount: fc.constantFrom("/data", "/data/ckpt", "/disk"),
    regional: maybe(fc.boolean()),
  }),
  fc.record({
    type: fc.constant("pvc"),
    name: word,
    existing: fc.constant(true),
    access: fc.constantFrom("ReadOnlyMany", "ReadWriteMany"),
    mount: fc.constant("/shared"),
    storageClass: maybe(fc.constant("standard-rwx")),
  }),
);

const common = {
  name: word,
  namespace: maybe(word),
  image: fc.constantFrom("trainer:1", "reg.example/a/b@sha256:0123"),
  command: fc.array(text, { minLength: 1, maxLength: 4 }),
  env: maybe(
    fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), fc.oneof(text, fc.integer(), fc.boolean(), secretRef), {
      maxKeys: 4,
    }),
  ),
  accelerator: maybe(accelerators),
  resources: maybe(fc.record({ cpu: fc.constantFrom(4, "500m"), memory: fc.constant("16Gi") })),
  parallelism: maybe(fc.integer({ min: 1, max: 16 })),
  capacity: maybe(capacities),
  flexStart: maybe(fc.record({ mode: fc.constantFrom("plain", "queued", "kueue") })),
  maxRunDuration: maybe(fc.constantFrom("1h", "3d", "7d")),
  grace: maybe(fc.constantFrom("5s", "15s", "60s", "10m")),
  priority: maybe(fc.oneof(fc.integer({ min: -12, max: -8 }), fc.integer({ min: -5, max: 100 }))),
  retries: maybe(fc.integer({ min: 0, max: 20 })),
  deadline: maybe(text),
  budget: maybe(fc.integer({ min: 1, max: 10_000 })),
  pool: maybe(
    fc.record(
      {
        name: word,
        existing: fc.boolean(),
        min: fc.integer({ min: 0, max: 2 }),
        max: fc.integer({ min: 1, max: 20 }),
        taints: fc.constant(["provisioning-tier=preemptible:NoSchedule"]),
        labels: fc.constantFrom<Record<string, string>>(
          { "provisioning-tier": "preemptible" },
          { "cloud.google.com/gke-spot": "true" },
          { pool: "on" },
        ),
        zones: fc.constantFrom(["europe-west4-a"], ["europe-west4-a", "europe-west4-b"]),
        spotWindow: fc.constantFrom("15s", "60s"),
      },
      { requiredKeys: [] },
    ),
  ),
  cluster: maybe(
    fc.record(
      {
        name: word,
        location: fc.constantFrom("europe-west4", "us-central1-a"),
        project: fc.oneof(word, fc.constant("a-${b}-%{c}")),
        mode: fc.constantFrom("standard", "autopilot"),
        version: fc.constantFrom("1.33.5-gke.1", "1.36.1-gke.4000000"),
        autoProvisioning: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  ),
  outlast: maybe(
    fc.oneof(fc.record({ image: fc.constant("reg/outlast:1") }), fc.record({ path: fc.constant("/usr/bin/outlast") })),
  ),
  user: maybe(fc.integer({ min: 1, max: 70_000 })),
  minAvailable: maybe(fc.integer({ min: 1, max: 4 })),
  watch: maybe(fc.boolean()),
  storage: maybe(fc.array(storage, { maxLength: 3 })),
};

const train = fc.record({
  kind: fc.constant("train"),
  ...common,
  pods: fc.constantFrom("shards", "independent"),
  completions: maybe(fc.integer({ min: 1, max: 32 })),
  checkpoint: fc.record({
    dir: fc.constantFrom("/ckpt", "/data/ckpt"),
    store: fc.constantFrom("gs://bucket/runs", "s3://bucket/runs", "/shared/store"),
    keep: maybe(fc.integer({ min: 1, max: 9 })),
    size: maybe(fc.constant("40Gi")),
    interval: maybe(fc.oneof(fc.integer({ min: 1, max: 99 }), fc.constant("10m"))),
    variables: maybe(fc.constant({ dir: "CHECKPOINT_DIR", interval: "CHECKPOINT_INTERVAL" })),
  }),
  run: maybe(fc.constantFrom({ stopSignal: "USR1" }, { ignore: ["*.log", "tmp/**"], restoreOnly: true })),
});

const batch = fc.record({
  kind: fc.constant("batch"),
  ...common,
  queue: fc.oneof(fc.constant("pubsub://proj/sub?topic=top"), secretRef),
  results: maybe(secretRef),
  workers: maybe(fc.constantFrom("job", "scaled-job", "deployment")),
  batch: maybe(fc.constant({ chunk: 32, batch: true, lease: "2m" })),
});

const serve = fc.record({ kind: fc.constant("serve"), ...common, port: maybe(fc.integer({ min: 1, max: 65_535 })) });

/** One workload, as data. */
export const arbitrarySpec: fc.Arbitrary<Record<string, unknown>> = fc
  .oneof(train, batch, serve)
  .map(
    (spec) =>
      Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as Record<string, unknown>,
  );
