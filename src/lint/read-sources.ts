import { dirname } from "node:path";
import type { LintOptions } from "./lint.ts";
import { readComputeClass } from "./pools/compute-class.ts";
import { mentionsPools, readGcloudScript, type ScriptFacts } from "./pools/from-gcloud.ts";
import { isPoolList, isPoolsFile, readPoolList, readPoolsFile } from "./pools/from-nodes.ts";
import { mentionsTerraformPools, readTerraform } from "./pools/from-terraform.ts";
import type { Pool } from "./pools/pool.ts";
import type { Supply } from "./pools/supply.ts";
import { type KubeObject, objectsOf } from "./source/kube-object.ts";
import { parseYaml, splitDocuments, type YamlDocument } from "./source/parse-yaml.ts";
import type { SourceFile } from "./source/source-file.ts";

/** What the texts hold. */
export interface ReadSources {
  readonly documents: readonly YamlDocument[];
  readonly objects: readonly KubeObject[];
  readonly supply: Supply;
  /** Files that gave an object, a pool, or an error worth telling. */
  readonly used: number;
  readonly passedOver: readonly { readonly path: string; readonly why: string }[];
}

/** Reads every text by what it is: YAML or JSON, Terraform, a script. */
export function readSources(files: readonly SourceFile[], options: LintOptions): ReadSources {
  const documents: YamlDocument[] = [];
  const objects: KubeObject[] = [];
  const pools: Pool[] = [];
  const used = new Set<SourceFile>();
  const passedOver: { path: string; why: string }[] = [];
  const modules = new Map<string, SourceFile[]>();
  let hasAutoProvisioning = false;
  let isAutopilot = false;
  let isComplete = false;
  const take = (facts: ScriptFacts, from: readonly SourceFile[]): void => {
    pools.push(...facts.pools);
    hasAutoProvisioning ||= facts.hasAutoProvisioning;
    isAutopilot ||= facts.isAutopilot;
    for (const { span } of facts.pools) used.add(span.file);
    if (facts.pools.length > 0 && from.some((file) => options.poolFiles?.has(file))) isComplete = true;
  };

  for (const file of files) {
    const kind = kindOf(file);
    if (kind === "terraform") {
      if (mentionsTerraformPools(file.text) || file.path.endsWith(".tfvars")) {
        const folder = dirname(file.path);
        modules.set(folder, [...(modules.get(folder) ?? []), file]);
      }
    } else if (kind === "shell") {
      if (mentionsPools(file.text)) take(readGcloudScript(file), [file]);
    } else readYamlFile(file);
  }
  for (const group of modules.values()) take(readTerraform(group), group);

  function readYamlFile(file: SourceFile): void {
    if (!/\bkind["']?\s*:|\bpools["']?\s*:|"machineType"|\bmachineType\s*:/.test(file.text)) return;
    if (isOtherJson(file.text)) return;
    for (const span of splitDocuments(file)) {
      const text = file.text.slice(span.start, span.end);
      if (!/\bkind["']?\s*:|\bpools["']?\s*:|\bmachineType["']?\s*:/.test(text)) continue;
      const document = parseYaml(span);
      if (document.error) {
        // Text of a template engine is no YAML yet; that is not its author's fault.
        if (/\{\{|\{%|<%|%\{/.test(text))
          passedOver.push({ path: file.path, why: "holds template text; render it first" });
        else if (/^\s*["']?apiVersion["']?\s*:/m.test(text)) {
          documents.push(document);
          used.add(file);
        }
        continue;
      }
      if (isPoolList(document.root) && document.root) {
        pools.push(...readPoolList(document.root));
        used.add(file);
        // The list of a cluster's pools is all of them.
        isComplete = true;
        continue;
      }
      if (isPoolsFile(document.root) && document.root && isPoolsName(file, options)) {
        pools.push(...readPoolsFile(document.root));
        used.add(file);
        isComplete = document.root.get("complete")?.value !== false;
        hasAutoProvisioning ||= document.root.get("autoProvisioning")?.isTrue === true;
        continue;
      }
      const found = objectsOf(document);
      if (found.length === 0) continue;
      used.add(file);
      documents.push(document);
      for (const object of found) objects.push(object);
    }
  }

  const classes = new Map(
    objects
      .filter(({ kind, group }) => kind === "ComputeClass" && group === "cloud.google.com")
      .map((object) => [object.name, readComputeClass(object)]),
  );
  const supply: Supply = {
    pools,
    isComplete: isComplete && pools.length > 0,
    hasAutoProvisioning: hasAutoProvisioning || classes.size > 0,
    isAutopilot: options.profile === undefined ? isAutopilot && pools.length === 0 : options.profile === "autopilot",
    classes,
  };
  return { documents, objects, supply, used: used.size, passedOver };
}

function kindOf(file: SourceFile): "terraform" | "shell" | "yaml" {
  if (/\.(?:tf|tfvars)$/.test(file.path)) return "terraform";
  if (/\.(?:sh|bash)$/.test(file.path) || /^#!.*\b(?:ba|da|z)?sh\b/.test(file.text.slice(0, 80))) return "shell";
  return "yaml";
}

function isPoolsName(file: SourceFile, options: LintOptions): boolean {
  return options.poolFiles?.has(file) === true || /(?:^|\/)pools\.(?:ya?ml|json)$/.test(file.path);
}

/** JSON that holds neither objects nor pools: lock files, API descriptions. The built-in parser tells so far faster than YAML's. */
function isOtherJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text.slice(0, 200))) return false;
  try {
    const value: unknown = JSON.parse(text);
    const one: unknown = Array.isArray(value) ? value[0] : value;
    return typeof one !== "object" || one === null || !("kind" in one || "config" in one || "pools" in one);
  } catch {
    // YAML in flow style, or broken JSON: the YAML parser says where.
    return false;
  }
}
