import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OutlastError, systemCode } from "../core/index.ts";
import type { RawSettings } from "./resolve.ts";

/** The name looked for in the working directory. */
export const defaultFile = "outlast.yaml";

/** What was read, if there was anything to read. */
export interface SpecFile {
  /** As the user would name it. */
  readonly path: string | undefined;
  readonly settings: RawSettings;
}

/** Reads `path`, or `outlast.yaml` in `cwd` when there is one. */
export async function loadSpecFile(cwd: string, path?: string): Promise<SpecFile> {
  const shown = path ?? defaultFile;
  let text: string;
  try {
    text = await readFile(resolve(cwd, shown), "utf8");
  } catch (cause) {
    if (path === undefined && systemCode(cause) === "ENOENT") return { path: undefined, settings: {} };
    throw new OutlastError("OUTLAST_CONFIG", `cannot read ${shown}: ${reason(cause)}`, {
      hint: "check the path and its permissions",
      cause,
      operation: "read",
      target: shown,
    });
  }
  // Loaded only here: the YAML parser and the schema cost more than the rest of the start together.
  const { parseSpec } = await import("./file-schema.ts");
  return { path: shown, settings: parseSpec(text, shown) };
}

function reason(error: unknown): string {
  const code = systemCode(error);
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied";
  return error instanceof Error ? error.message : String(error);
}
