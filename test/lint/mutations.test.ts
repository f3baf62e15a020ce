import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lintSources, SourceFile } from "../../src/lint/index.ts";

const clean = readFileSync(join(import.meta.dirname, "rules/naked-pod-interruptible/quiet/job.yaml"), "utf8");
const found = (text: string) => lintSources([new SourceFile("job.yaml", text)]).findings;

test("the manifest that mutants are made of is clean", () => {
  expect(found(clean)).toEqual([]);
});

/** One letter less, in the middle of a word. */
const misspelt = (word: string) => word.slice(0, word.length >> 1) + word.slice((word.length >> 1) + 1);

describe("a misspelt field is found where it stands, whatever else follows from it", () => {
  // Misspelling `containers` or `template` leaves no pod to look at; kubectl tells that.
  const fields = [
    "podFailurePolicy",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "nodeSelector",
    "tolerations",
    "image",
    "command",
    "resources",
  ];
  test.each(fields)("%s", (field) => {
    const text = clean.replace(`${field}:`, `${misspelt(field)}:`);
    const line = text.split("\n").findIndex((one) => one.includes(`${misspelt(field)}:`)) + 1;
    expect(found(text)).toContainEqual(expect.objectContaining({ rule: "unknown-field", severity: "error", line }));
  });
});

describe("one thing dropped or changed: that rule and only that", () => {
  const mutants: readonly (readonly [string, string, string, string])[] = [
    ["the policy that forgives evictions", "action: Ignore", "action: Count", "job-evictions-burn-backoff"],
    ["the condition it is about", "type: DisruptionTarget", "type: Other", "job-evictions-burn-backoff"],
    [
      "the grace period, too long",
      "terminationGracePeriodSeconds: 15",
      "terminationGracePeriodSeconds: 16",
      "grace-exceeds-spot-window",
    ],
    ["the grace period, none", "terminationGracePeriodSeconds: 15", "terminationGracePeriodSeconds: 0", "grace-zero"],
    ["the bucket", "gs://bucket/run", "/data/run", "ckpt-on-container-fs"],
    ["the quotes of the selector", 'gke-spot: "true"', "gke-spot: true", "selector-value-not-string"],
    [
      "a letter of the toleration's key",
      "key: cloud.google.com/gke-spot",
      "key: cloud.google.com/gke-spott",
      "dead-toleration",
    ],
    ["the effect's spelling", "effect: NoSchedule", "effect: NoSchedul", "toleration-invalid"],
    [
      "the toleration's key",
      'key: cloud.google.com/gke-spot, operator: Equal, value: "true"',
      "operator: Exists",
      "wildcard-toleration",
    ],
    ["the image's version", "train:1.4.2", "train:latest", "image-mutable-tag"],
    [
      "the exec form",
      '["python", "train.py", "--checkpoint-dir", "gs://bucket/run"]',
      '["sh", "-c", "python train.py --checkpoint-dir gs://bucket/run"]',
      "shell-pid1-swallows-sigterm",
    ],
    ["CPU and memory", 'requests: {cpu: "4", memory: 16Gi}', "requests: {}", "no-requests"],
    ["the limit", "limits: {nvidia.com/gpu: 1}", "limits: {nvidia.com/gpu: 1.5}", "gpu-limit-differs"],
    ["the pod's restart policy", "restartPolicy: Never", "restartPolicy: Always", "job-policy-needs-never"],
  ];
  test.each(mutants)("%s", (_, from, to, rule) => {
    expect(clean).toContain(from);
    expect([...new Set(found(clean.replace(from, to)).map((finding) => finding.rule))]).toEqual([rule]);
  });
});
