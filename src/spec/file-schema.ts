import { z } from "zod";
import { type Path, readDocuments, type SpecDocument } from "./documents.ts";
import { type Fault, faultsError } from "./faults.ts";
import type { RawSettings } from "./resolve.ts";
import { type Setting, type SettingName, settings } from "./settings.ts";
import { suggest } from "./suggest.ts";
import { fillSettings } from "./workload/fill-settings.ts";
import { type RawWorkload, sharedKeys } from "./workload/raw.ts";
import { describeKeys, workloadShape } from "./workload/schema.ts";

type Shape = Record<string, z.ZodType>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of a document of settings: those that have a place in outlast.yaml, and what its workloads share. */
export function specSchema(): z.ZodObject {
  return z.strictObject({
    ...settingsShape(),
    ...Object.fromEntries(sharedKeys.map((key) => [key, workloadShape[key]])),
  });
}

/** The schema of a document that is a workload; settings may stand beside its own keys. */
export function workloadSchema(): z.ZodObject {
  return z.strictObject({ ...workloadShape, ...settingsShape() });
}

/** The schema of one document of outlast.yaml, for editors. */
export function documentSchema(): z.ZodType {
  return z.union([workloadSchema(), specSchema()]);
}

function settingsShape(): Shape {
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
  return top;
}

/** A document whose shape is right. */
export interface ReadDocument {
  readonly document: SpecDocument;
  readonly settings: RawSettings;
  /** Undefined for a document of settings. */
  readonly workload: RawWorkload | undefined;
  /** What a document of settings says for all workloads. */
  readonly shared: Partial<RawWorkload>;
}

/** Reads every document of outlast.yaml that has the right shape, and tells all that is wrong with the others. */
export function readSpec(
  text: string,
  path: string,
): { readonly read: readonly ReadDocument[]; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const read: ReadDocument[] = [];
  for (const document of readDocuments(text, path)) {
    const { content } = document;
    const isWorkload = typeof content === "object" && content !== null && "kind" in content;
    const parsed = (isWorkload ? workloadSchema() : specSchema()).safeParse(content);
    if (!parsed.success) {
      faults.push(...parsed.error.issues.flatMap((issue) => explain(issue, document, isWorkload)));
      continue;
    }
    read.push({
      document,
      settings: flatten(parsed.data),
      // The schema says so, and the types of both are held together where it is written.
      workload: isWorkload ? (parsed.data as unknown as RawWorkload) : undefined,
      shared: isWorkload
        ? {}
        : Object.fromEntries(sharedKeys.flatMap((key) => (key in parsed.data ? [[key, parsed.data[key]]] : []))),
    });
  }
  const bare = read.filter(({ workload }) => !workload);
  if (bare.length > 1) {
    faults.push({
      severity: "error",
      line: bare[1]?.document.lineOf([]),
      message: "a second document without kind: settings have one place",
      hint: "put settings into one document, or give this one kind: train, batch or serve",
    });
  }
  return { read, faults };
}

/** Checks the text of outlast.yaml as a whole, says everything that is wrong with it at once, and gives the settings of commands. */
export function parseSpec(text: string, path: string): RawSettings {
  const { read, faults } = readSpec(text, path);
  if (faults.length > 0) throw faultsError(path, faults);
  const workloads = read.filter(({ workload }) => workload);
  const [bare] = read.filter(({ workload }) => !workload);
  const [only] = workloads;
  // Of several workloads none is the one meant by a command that names none.
  const filled = only?.workload && workloads.length === 1 ? { ...fillSettings(only.workload), ...only.settings } : {};
  return { ...bare?.settings, ...filled };
}

function explain(issue: z.core.$ZodIssue, document: SpecDocument, isWorkload: boolean): readonly Fault[] {
  const at = (where: Path) => ({ severity: "error" as const, line: document.lineOf(where) });
  if (issue.code !== "unrecognized_keys") {
    return [
      { ...at(issue.path), message: `${issue.path.join(".") || "the file"}: ${messageOf(issue)}`, hint: undefined },
    ];
  }
  const known = isWorkload ? [...fileKeys(), ...describeKeys().map(({ key }) => key)] : [...fileKeys(), ...sharedKeys];
  return issue.keys.map((key) => {
    const full = [...issue.path, key].filter((step) => typeof step !== "number").join(".");
    const near = suggest(full, known) ?? known.find((other) => other.split(".").at(-1) === key);
    const hints = [
      ...(near ? [`did you mean ${near}?`] : []),
      ...(!isWorkload && issue.path.length === 0 && key in workloadShape
        ? [`${key} belongs to a workload: add kind: train, batch or serve`]
        : []),
    ];
    const hint = hints.length > 0 ? hints.join(" or: ") : undefined;
    return { ...at([...issue.path, key]), message: `unknown key ${full}`, hint };
  });
}

/** zod's own words are for programmers where a key is missing or several shapes are allowed. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.input === undefined) return "is missing";
  if (issue.code === "invalid_union") {
    const inner = issue.errors.flat().filter(({ code }) => code !== "invalid_type" && code !== "unrecognized_keys");
    return inner[0]?.message ?? "has none of the shapes it may have";
  }
  return issue.message;
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
