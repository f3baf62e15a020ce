import { OutlastError } from "../core/index.ts";
import { type Environment, isInsideRun } from "./environment.ts";
import { type Setting, type SettingName, type SettingTypes, settings, variableOf } from "./settings.ts";

/** Settings as written, by name; lists hold one text per value. */
export type RawSettings = Readonly<Partial<Record<SettingName, string | readonly string[]>>>;

/** Where settings may come from, each already free of unknown names. */
export interface Sources {
  readonly flags: RawSettings;
  readonly env: Environment;
  readonly file: RawSettings;
  /** Shown as the origin of values from the file. */
  readonly filePath?: string | undefined;
}

/** A value, and who said so. */
export interface Origin {
  readonly name: SettingName;
  readonly text: string;
  readonly from: string;
}

/** Values by name. Absent: given nowhere and without a default. */
export type Values = { readonly [Name in SettingName]?: SettingTypes[Name] };

/** What the sources say together. */
export interface Resolved {
  readonly values: Values;
  readonly origins: readonly Origin[];
}

/** Merges defaults < file < environment < flags for the settings a command takes, and reads each winner once. */
export function resolveSettings(names: readonly SettingName[], sources: Sources): Resolved {
  const values: Record<string, unknown> = {};
  const origins: Origin[] = [];
  const faults: OutlastError[] = [];
  for (const name of names) {
    const winner = pick(name, sources);
    if (!winner) continue;
    const setting: Setting<unknown> = settings[name];
    origins.push({ name, text: winner.texts.join(" "), from: winner.from });
    try {
      const read = winner.texts.map((text) => setting.read(text, winner.what));
      values[name] = setting.many ? read : read.at(-1);
    } catch (error) {
      if (!(error instanceof OutlastError)) throw error;
      faults.push(error);
    }
  }
  if (faults.length > 0) throw join(faults);
  return { values, origins };
}

interface Winner {
  readonly texts: readonly string[];
  readonly from: string;
  /** How an error names it. */
  readonly what: string;
}

function pick(name: SettingName, sources: Sources): Winner | undefined {
  const setting: Setting<unknown> = settings[name];
  const flag = sources.flags[name];
  if (flag !== undefined) return { texts: [flag].flat(), from: "flag", what: `--${setting.flag}` };
  const variable = variableOf(name);
  const said = variable === undefined || hides(name, sources.env) ? undefined : sources.env[variable];
  if (variable !== undefined && said !== undefined && said !== "") {
    // One value a line: patterns may hold commas, colons and spaces.
    return { texts: setting.many ? said.split("\n").filter(Boolean) : [said], from: variable, what: variable };
  }
  const written = sources.file[name];
  if (written !== undefined) {
    const from = sources.filePath ?? "outlast.yaml";
    return { texts: [written].flat(), from, what: `${setting.file} in ${from}` };
  }
  return setting.default === undefined
    ? undefined
    : { texts: [setting.default], from: "default", what: `--${setting.flag}` };
}

/** Inside a run, OUTLAST_RUN is the parent's: taking it would make a nested start supersede its own parent. */
function hides(name: SettingName, env: Environment): boolean {
  return name === "run" && isInsideRun(env);
}

function join(faults: readonly OutlastError[]): OutlastError {
  const [first] = faults;
  if (faults.length === 1 && first) return first;
  return new OutlastError(
    "OUTLAST_USAGE",
    `${faults.length} settings are wrong:\n${faults.map((fault) => `  ${fault.message}`).join("\n")}`,
    {
      hint: faults.flatMap((fault) => fault.hint ?? []).join("; "),
    },
  );
}
