import { createHash } from "node:crypto";
import type { JsonValue } from "../../results/index.ts";

/** JSON with keys in ascending order and no blanks: the same data is the same text, however it was written. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(",")}}`;
}

/** The id of an item that names none: sha256 of its canonical data and, where one is given, a newline and the version. */
export function contentId(canonical: string, version: string | undefined): string {
  const hash = createHash("sha256").update(canonical);
  if (version !== undefined) hash.update(`\n${version}`);
  return hash.digest("hex");
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
