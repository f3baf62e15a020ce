import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { SourceFile } from "../source/source-file.ts";

/** What rendering needs of the world. */
export interface Renderer {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly nameOf: (path: string) => string;
}

const kustomizationNames = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Whether a folder is a Helm chart. */
export function isChart(names: readonly string[]): boolean {
  return names.includes("Chart.yaml");
}

/** Whether a folder is a kustomization. */
export function isKustomization(names: readonly string[]): boolean {
  return names.some((name) => kustomizationNames.includes(name));
}

interface Rendered {
  readonly files: readonly SourceFile[];
  /** Source files that the rendered text stands for, or that are parts only. */
  readonly replaced: ReadonlySet<string>;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

/** Renders charts and kustomizations with the user's own programs; says what could not be. */
export async function renderFolders(
  folders: readonly string[],
  sources: ReadonlyMap<string, SourceFile>,
  renderer: Renderer,
  isWanted: boolean,
): Promise<Rendered> {
  const files: SourceFile[] = [];
  const replaced = new Set<string>();
  const skipped: { path: string; why: string }[] = [];
  const parts = folders.flatMap((folder) => kustomizationOf(folder, sources) ?? []);
  const bases = new Set(parts.flatMap(({ resources }) => resources));
  for (const folder of folders) {
    const kustomization = parts.find((one) => one.folder === folder);
    // A base is rendered as part of the overlays that use it.
    const isBase = kustomization !== undefined && bases.has(folder);
    for (const path of kustomization?.patches ?? []) replaced.add(path);
    if (isBase) {
      for (const path of kustomization.resources) replaced.add(path);
      continue;
    }
    const name = renderer.nameOf(folder);
    const tool = kustomization ? "kustomize" : "helm";
    const command = isWanted ? commandFor(kustomization !== undefined, folder, renderer) : undefined;
    if (!command) {
      skipped.push({
        path: name,
        why: isWanted
          ? `${tool} is not installed, so this ${kustomization ? "kustomization's patches were left out and its resources linted as they are" : "chart was not rendered"}`
          : `a ${kustomization ? "kustomization" : "chart"}, and rendering is switched off`,
      });
      continue;
    }
    try {
      const [program = "", ...args] = command;
      const { stdout } = await promisify(execFile)(program, args, {
        cwd: renderer.cwd,
        env: { ...renderer.env },
        timeout: 60_000,
        maxBuffer: 64 << 20,
      });
      const title = kustomization ? "kustomize build" : "helm template";
      files.push(new SourceFile(`${name} (${title})`, stdout, title));
      for (const path of kustomization?.resources ?? []) replaced.add(path);
    } catch (error) {
      const said =
        error instanceof Error && "stderr" in error ? String(error.stderr).trim().split("\n")[0] : String(error);
      skipped.push({ path: name, why: `${tool} failed: ${said || "no message"}` });
    }
  }
  return { files, replaced, skipped };
}

interface Kustomization {
  readonly folder: string;
  readonly resources: readonly string[];
  readonly patches: readonly string[];
}

function kustomizationOf(folder: string, sources: ReadonlyMap<string, SourceFile>): Kustomization | undefined {
  const source = kustomizationNames.map((name) => sources.get(join(folder, name))).find((file) => file !== undefined);
  if (!source) return undefined;
  try {
    const value: unknown = parse(source.text, { maxAliasCount: 100 });
    const list = (key: string): readonly unknown[] => {
      const found: unknown =
        typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
      return Array.isArray(found) ? (found as readonly unknown[]) : [];
    };
    const full = (one: unknown): string[] =>
      typeof one === "string" && !one.includes("\n") && !one.includes("://") ? [resolve(folder, one)] : [];
    const pathOf = (one: unknown): string[] =>
      typeof one === "object" && one !== null && "path" in one ? full(one.path) : full(one);
    return {
      folder,
      resources: [...list("resources"), ...list("bases"), ...list("components")].flatMap(full),
      patches: [...list("patches"), ...list("patchesStrategicMerge"), ...list("patchesJson6902")].flatMap(pathOf),
    };
  } catch {
    // Not YAML: kustomize itself will say so when it renders the folder.
    return { folder, resources: [], patches: [] };
  }
}

function commandFor(isKustomize: boolean, folder: string, renderer: Renderer): string[] | undefined {
  if (!isKustomize) {
    const helm = find("helm", renderer.env);
    return helm ? [helm, "template", "release", folder] : undefined;
  }
  const kustomize = find("kustomize", renderer.env);
  if (kustomize) return [kustomize, "build", folder];
  const kubectl = find("kubectl", renderer.env);
  return kubectl ? [kubectl, "kustomize", folder] : undefined;
}

/** A program on the PATH. */
function find(name: string, env: Renderer["env"]): string | undefined {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder === "" ? dirname(name) : folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder: the next one may have it.
    }
  }
  return undefined;
}
