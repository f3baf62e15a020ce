import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { OutlastError, systemCode } from "../../core/index.ts";
import { SourceFile } from "../source/source-file.ts";
import { isChart, isKustomization, type Renderer, renderFolders } from "./render.ts";

/** Where to look. */
export interface GatherOptions {
  readonly paths: readonly string[];
  /** Files or folders whose pools are all there are. */
  readonly pools: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False: charts and kustomizations are passed over instead of rendered. */
  readonly render: boolean;
  readonly readStdin: () => Promise<string>;
}

/** What was found. */
export interface Gathered {
  readonly files: readonly SourceFile[];
  readonly poolFiles: ReadonlySet<SourceFile>;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

/** Files larger than this are data, not manifests. */
const largest = 10 * 1024 * 1024;
const wanted = /\.(?:ya?ml|json|tf|tfvars|sh|bash)$/;
const passed = new Set(["node_modules", ".git", ".terraform", ".venv", "venv", "__pycache__", "vendor", ".cache"]);

/** Reads files and folders. Synchronous reading is twice as fast here, and nothing else runs. */
export async function gatherInputs(options: GatherOptions): Promise<Gathered> {
  const { paths, pools, cwd } = options;
  const files = new Map<string, SourceFile>();
  const skipped: { path: string; why: string }[] = [];
  const folders: string[] = [];
  const poolFiles = new Set<SourceFile>();

  const nameOf = (path: string): string => {
    const name = relative(cwd, path);
    return name === "" ? "." : name.startsWith("..") ? path : name;
  };
  const readOne = (path: string): SourceFile | undefined => {
    const known = files.get(path);
    if (known) return known;
    const { size } = statSync(path);
    if (size > largest) {
      skipped.push({ path: nameOf(path), why: `larger than ${largest / 1024 / 1024} MiB` });
      return undefined;
    }
    const file = new SourceFile(nameOf(path), readFileSync(path, "utf8"));
    files.set(path, file);
    return file;
  };
  /** In a folder one file that cannot be read is passed over and named. */
  const tryOne = (path: string): SourceFile | undefined => {
    try {
      return statSync(path).isFile() ? readOne(path) : undefined;
    } catch (error) {
      skipped.push({ path: nameOf(path), why: `cannot be read (${systemCode(error) ?? String(error)})` });
      return undefined;
    }
  };
  const walk = (folder: string, found: SourceFile[]): void => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = entries.map(({ name }) => name);
    if (isChart(names)) {
      folders.push(folder);
      // What a chart's templates hold is no YAML until helm has run.
      for (const entry of entries)
        if (entry.isDirectory() && entry.name === "charts") walk(join(folder, entry.name), found);
      return;
    }
    if (isKustomization(names)) folders.push(folder);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!passed.has(entry.name) && !entry.name.startsWith(".")) walk(path, found);
      } else if (wanted.test(entry.name) && (entry.isFile() || entry.isSymbolicLink())) {
        const file = tryOne(path);
        if (file) found.push(file);
      }
    }
  };
  const take = (path: string): SourceFile[] => {
    const full = resolve(cwd, path);
    try {
      if (!statSync(full).isDirectory()) {
        const file = readOne(full);
        return file ? [file] : [];
      }
      const found: SourceFile[] = [];
      walk(full, found);
      return found;
    } catch (cause) {
      const why = systemCode(cause) === "ENOENT" ? "does not exist" : "cannot be read";
      throw new OutlastError("OUTLAST_USAGE", `${path} ${why}`, {
        target: path,
        hint: "give files or folders that are there, or - for standard input",
        cause,
      });
    }
  };

  for (const path of paths) {
    if (path === "-") files.set("-", new SourceFile("<stdin>", await options.readStdin(), "standard input"));
    else take(path);
  }
  for (const path of pools) for (const file of take(path)) poolFiles.add(file);

  const renderer: Renderer = { env: options.env, cwd, nameOf };
  const rendered = await renderFolders(folders, files, renderer, options.render);
  skipped.push(...rendered.skipped);
  for (const path of rendered.replaced) files.delete(path);
  return { files: [...files.values(), ...rendered.files], poolFiles, skipped };
}
