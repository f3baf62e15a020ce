import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { OutlastError } from "../core/index.ts";

const longest = 100;

/** Refuses names that cannot be a folder of every store. */
export function readRunName(text: string, what: string): string {
  if (new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${longest - 1}}$`).test(text)) return text;
  throw new OutlastError("OUTLAST_USAGE", `${what} "${text}" is not a name for a run`, {
    hint: `use letters, digits, ".", "_" and "-", beginning with a letter or digit, at most ${longest} of them; the store's own path goes into --store`,
  });
}

/** The same directory and command always give the same name, so that a plain restart finds its run. */
export function deriveRunName(dir: string, command: readonly string[], cwd: string): string {
  const path = resolve(cwd, dir);
  const readable = basename(path)
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 40);
  const hash = createHash("sha256")
    .update(JSON.stringify([path, ...command]))
    .digest("hex");
  return `${readable || "run"}-${hash.slice(0, 10)}`;
}
