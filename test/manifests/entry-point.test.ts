import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildManifests } from "../../src/manifests/index.ts";
import { parseWorkloads } from "../../src/spec/workload/index.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-entry-"));
  // As the kubelet makes the places that volumes are mounted at.
  await mkdir(join(dir, "store"));
  await mkdir(join(dir, "ckpt"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** What the main container of the Job starts, with variables put in as the kubelet does. */
function commandOf(text: string, env: Readonly<Record<string, string>>): readonly string[] {
  const [made] = buildManifests(parseWorkloads(text, "f").workloads, { outlastImage: "o" });
  const job = made?.objects.find(({ object }) => object.kind === "Job")?.object as unknown as {
    spec: { template: { spec: { containers: { command: string[]; args: string[] }[] } } };
  };
  const [container] = job.spec.template.spec.containers;
  const words = [...(container?.command ?? []), ...(container?.args ?? [])];
  return words.map((word) => word.replaceAll(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? `$(${name})`));
}

test("the command of an Indexed Job is one that outlast runs, under the name of its index", async () => {
  const spec = [
    "kind: train",
    "name: sweep",
    "image: i",
    `command: [sh, -c, "test $OUTLAST_RUN = sweep-3 && echo trial-$(JOB_COMPLETION_INDEX)"]`,
    "pods: independent",
    "completions: 8",
    `checkpoint: {dir: ${dir}/ckpt, store: ${dir}/store, keep: 2}`,
    `storage: [{type: pvc, name: s, size: 1Gi, access: ReadWriteMany, mount: ${dir}/store}]`,
    "run: {notice: signal, stopSignal: INT}",
  ].join("\n");
  const env = { JOB_COMPLETION_INDEX: "3", KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  const [program, ...words] = commandOf(spec, env);
  expect(program).toBe("/outlast/outlast");
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OUTLAST_")));
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words], {
    cwd: dir,
    env: { ...clean, ...env },
  });
  expect(stdout).toBe("trial-3\n");
}, 60_000);
