import { toShell } from "./to-shell.ts";
import { objectToYaml, toYaml } from "./to-yaml.ts";
import type { WorkloadManifest } from "./types.ts";

/** Everything as one stream that `kubectl apply -f -` takes; what has to be done before stands in comments. */
export function renderStream(manifests: readonly WorkloadManifest[]): string {
  return manifests.map((one) => `${heading(one)}${toYaml(one.objects)}`).join("\n");
}

/** Everything as files by name: objects in the order they are applied, a script, and Terraform where pools are made. */
export function renderFiles(manifests: readonly WorkloadManifest[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const setup = manifests.filter(({ steps, notes }) => steps.length + notes.length > 0);
  if (setup.length > 0) {
    const parts = setup.map((one) => `${titleOf(one)}${notesOf(one)}\n${toShell(one.steps)}`);
    files.set("setup.sh", `#!/bin/sh\n# Run once, before the objects are applied.\nset -eu\n\n${parts.join("\n")}`);
  }
  const terraform = manifests.flatMap((one) => (one.terraform === "" ? [] : [one.terraform]));
  if (terraform.length > 0)
    files.set("node-pools.tf", `# The node pools of setup.sh; use one or the other.\n${terraform.join("\n")}`);
  const objects = manifests.flatMap((one) => one.objects);
  const width = Math.max(2, String(objects.length).length);
  for (const [index, one] of objects.entries()) {
    const { kind, metadata } = one.object;
    files.set(
      `${String(index + 1).padStart(width, "0")}-${kind.toLowerCase()}-${metadata.name}.yaml`,
      objectToYaml(one),
    );
  }
  return files;
}

function heading(one: WorkloadManifest): string {
  const steps =
    one.steps.length === 0 ? "" : `#\n# Before it is applied, once:\n#\n${comment(toShell(one.steps), "#   ")}`;
  return `${titleOf(one)}${notesOf(one)}${steps}`;
}

function titleOf({ workload }: WorkloadManifest): string {
  const { name, kind, capacity, capacityReason } = workload;
  return `# ${name} (${kind}): ${capacity.join(", then ")}; ${capacityReason}.\n`;
}

function notesOf({ notes }: WorkloadManifest): string {
  return notes.map((note) => `# - ${note}\n`).join("");
}

function comment(text: string, mark: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `${mark}${line}`.trimEnd())
    .join("\n")
    .concat("\n");
}
