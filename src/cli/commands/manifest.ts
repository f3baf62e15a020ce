import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { exitCodes, OutlastError, systemCode } from "../../core/index.ts";
import type { WorkloadManifest } from "../../manifests/index.ts";
import { defaultFile } from "../../spec/index.ts";
import type { Fault, Workload } from "../../spec/workload/index.ts";
import type { Command, CommandContext } from "../command.ts";
import type { ManifestExplainJson, ManifestJson } from "../json/manifest.ts";
import { readVersion } from "../version.ts";

/** `outlast manifest` */
export const manifest: Command = {
  name: "manifest",
  summary: "turn outlast.yaml into Kubernetes objects, node-pool commands and Terraform",
  description:
    "Makes everything the workloads of outlast.yaml need on GKE: objects as commented YAML that `kubectl apply -f -` takes, and before them, in comments, the commands for node pool, bucket, identity and queue. Contradictions are refused with the line that holds them; doubts are warnings.",
  examples: [
    { text: "Look, then apply", command: "outlast manifest | kubectl apply -f -" },
    { text: "Files to keep, with a script and Terraform", command: "outlast manifest --split deploy/" },
    { text: "What happens to it when its node goes?", command: "outlast manifest --explain" },
  ],
  flags: ["split", "explain", "json"],
  required: [],
  operands: { label: "FILE", required: false },
  handler: async ({ values, operands }, context) => {
    const file = operands[0] ?? values.config ?? defaultFile;
    if (operands.length > 1)
      throw new OutlastError("OUTLAST_USAGE", "one file at a time", {
        hint: "put all workloads into one file, as documents",
      });
    const { parseWorkloads } = await import("../../spec/workload/index.ts");
    const { workloads, warnings } = parseWorkloads(await readSpecFile(file, context), file);
    if (values.explain) return explain(workloads, values.json ?? false, context);
    const { buildManifests, renderFiles, renderStream } = await import("../../manifests/index.ts");
    const made = buildManifests(workloads, { outlastImage: `outlast:${readVersion()}` });
    if (values.split !== undefined) await writeFiles(renderFiles(made), values.split, context, values.json ?? false);
    if (values.json) {
      context.printJson(asJson(made, warnings));
      return exitCodes.finished;
    }
    for (const { line, message, hint } of warnings) context.logger.warn(message, { file, line, hint });
    if (values.split === undefined) context.stdout.write(renderStream(made));
    return exitCodes.finished;
  },
};

async function readSpecFile(file: string, { cwd }: CommandContext): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (cause) {
    const isMissing = systemCode(cause) === "ENOENT";
    throw new OutlastError("OUTLAST_CONFIG", `cannot read ${file}${isMissing ? ": there is no such file" : ""}`, {
      hint: isMissing ? "`outlast init` writes one" : "check the path and its permissions",
      cause,
      target: file,
    });
  }
}

async function writeFiles(
  files: ReadonlyMap<string, string>,
  dir: string,
  context: CommandContext,
  quiet: boolean,
): Promise<void> {
  const target = resolve(context.cwd, dir);
  await mkdir(target, { recursive: true });
  for (const [name, text] of files) {
    await writeFile(join(target, name), text, name.endsWith(".sh") ? { mode: 0o755 } : {});
    if (!quiet) context.print(join(dir, name));
  }
}

async function explain(workloads: readonly Workload[], json: boolean, context: CommandContext): Promise<number> {
  const { explainWorkload } = await import("../../manifests/index.ts");
  const explained = workloads.map((workload) => ({ workload, happenings: explainWorkload(workload) }));
  if (json) {
    context.printJson({
      schema: 1,
      workloads: explained.map(({ workload: { name, namespace }, happenings }) => ({
        name,
        namespace,
        happenings: happenings.map((one) => ({ ...one })),
      })),
    } satisfies ManifestExplainJson);
    return exitCodes.finished;
  }
  for (const { workload, happenings } of explained) {
    const { name, kind, capacity, capacityReason } = workload;
    context.print(`${name} (${kind}): ${capacity.join(", then ")}; ${capacityReason}\n`);
    for (const { what, notice, restartedBy, resumesFrom, delay, pays } of happenings) {
      context.print(
        `${what}\n  notice       ${notice}\n  restarted by ${restartedBy}\n  resumes from ${resumesFrom}\n  after        ${delay}\n  paid by      ${pays}\n`,
      );
    }
  }
  return exitCodes.finished;
}

function asJson(made: readonly WorkloadManifest[], warnings: readonly Fault[]): ManifestJson {
  return {
    schema: 1,
    workloads: made.map(({ workload, objects, steps, terraform, notes }) => ({
      name: workload.name,
      namespace: workload.namespace,
      kind: workload.kind,
      capacity: [...workload.capacity],
      reason: workload.capacityReason,
      objects: objects.map(({ object }) => ({ ...object })),
      setup: steps.map(({ purpose, argv, file }) => ({
        purpose,
        argv: [...argv],
        ...(file ? { file: { ...file } } : {}),
      })),
      terraform,
      notes: [...notes],
    })),
    warnings: warnings.map(({ line, message, hint }) => ({ line: line ?? null, message, hint: hint ?? null })),
  };
}
