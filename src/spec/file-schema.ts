import { parseDocument } from "yaml";
import { z } from "zod";
import { OutlastError } from "../core/index.ts";
import type { RawSettings } from "./resolve.ts";
import { type Setting, type SettingName, settings } from "./settings.ts";
import { suggest } from "./suggest.ts";

type Shape = Record<string, z.ZodType>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of outlast.yaml, made from the settings that have a place there. */
export function specSchema(): z.ZodObject {
  const top: Shape = {};
  const sections: Record<string, Shape> = {};
  for (const setting of Object.values(settings) as Setting<unknown>[]) {
    if (!setting.file) continue;
    const [first = "", second] = setting.file.split(".");
    const one = setting.value ? scalar : z.boolean();
    const schema = (setting.many ? z.union([scalar, z.array(scalar)]) : one).optional().describe(setting.summary);
    if (second === undefined) top[first] = schema;
    else (sections[first] ??= {})[second] = schema;
  }
  for (const [name, shape] of Object.entries(sections)) top[name] = z.strictObject(shape).nullish();
  return z.strictObject(top);
}

/** Checks the text of outlast.yaml as a whole and says everything that is wrong with it at once. */
export function parseSpec(text: string, path: string): RawSettings {
  const document = parseDocument(text, { prettyErrors: true });
  const [broken] = document.errors;
  if (broken) {
    throw new OutlastError("OUTLAST_CONFIG", `${path} is not valid YAML: ${broken.message.split("\n")[0]}`, {
      hint: "mend the line it names",
      cause: broken,
    });
  }
  const content: unknown = document.toJS() ?? {};
  const parsed = specSchema().safeParse(content);
  if (!parsed.success) throw invalid(path, parsed.error);
  return flatten(parsed.data);
}

function invalid(path: string, error: z.ZodError): OutlastError {
  const known = fileKeys();
  const lines: string[] = [];
  const hints: string[] = [];
  for (const issue of error.issues) {
    if (issue.code !== "unrecognized_keys") {
      lines.push(`${issue.path.join(".") || "the file"}: ${issue.message}`);
      continue;
    }
    for (const key of issue.keys) {
      const full = [...issue.path, key].join(".");
      lines.push(`unknown key ${full}`);
      const near = suggest(full, known) ?? known.find((other) => other.split(".").at(-1) === key);
      if (near) hints.push(`did you mean ${near}?`);
    }
  }
  const faults = lines.length === 1 ? ` ${lines[0]}` : `\n${lines.map((line) => `  ${line}`).join("\n")}`;
  return new OutlastError("OUTLAST_CONFIG", `${path}:${faults}`, {
    hint: hints.join("; ") || "docs/reference/configuration.md lists every key",
  });
}

function fileKeys(): string[] {
  return (Object.values(settings) as Setting<unknown>[]).flatMap((setting) => setting.file ?? []);
}

function flatten(data: Record<string, unknown>): RawSettings {
  const found: Partial<Record<SettingName, string | string[]>> = {};
  for (const [name, setting] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    if (!setting.file) continue;
    const value = setting.file
      .split(".")
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], data);
    if (value === undefined || value === null) continue;
    found[name] = Array.isArray(value) ? value.map(asText) : asText(value);
  }
  return found;
}

/** A YAML scalar as a user would type it after a flag. */
function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
