import { readChoice, readFlag, readText, type Reader } from "./readers.ts";
import { OutlastError } from "../core/index.ts";
import type { Setting } from "./setting.ts";

/** Settings of `outlast lint`. */
export interface LintSettingTypes {
  readonly lintFormat: "pretty" | "json" | "sarif" | "github";
  readonly failOn: "error" | "warning" | "info" | "never";
  readonly fix: "safe" | "unsafe";
  readonly diff: boolean;
  readonly pools: readonly string[];
  readonly profile: "auto" | "standard" | "autopilot";
  readonly gkeVersion: string;
  readonly baseline: string;
  readonly writeBaseline: boolean;
  readonly lintIgnore: readonly string[];
  readonly noRender: boolean;
  readonly allowEmpty: boolean;
  readonly explainRule: string;
}

/** `1.35` or `1.35.0-gke.1171000`. */
const readVersion: Reader<string> = (text, what) => {
  if (/^\d+\.\d+(\.\d+)?(-gke\.\d+)?$/.test(text.trim())) return text.trim();
  throw new OutlastError("OUTLAST_USAGE", `${what} "${text}" is not a GKE version`, {
    hint: "write it like 1.35 or 1.35.0-gke.1171000",
  });
};

/** The rows of `outlast lint` in the table of settings. */
export const lintSettings: { readonly [Name in keyof LintSettingTypes]: Setting<LintSettingTypes[Name]> } = {
  lintFormat: {
    flag: "format",
    value: "pretty|json|sarif|github",
    variable: false,
    default: "pretty",
    summary: "how findings are written",
    read: readChoice(["pretty", "json", "sarif", "github"]),
  },
  failOn: {
    flag: "fail-on",
    value: "error|warning|info|never",
    file: "lint.failOn",
    default: "error",
    summary: "the least severity that ends in exit code 1",
    read: readChoice(["error", "warning", "info", "never"]),
  },
  fix: {
    flag: "fix",
    value: "safe|unsafe",
    bare: "safe",
    variable: false,
    summary: "mend what can be mended: safe fixes, or with --fix=unsafe also those that change what is asked for",
    read: readChoice(["safe", "unsafe"]),
  },
  diff: { flag: "diff", variable: false, summary: "show what --fix would change, and change nothing", read: readFlag },
  pools: {
    flag: "pools",
    value: "PATH",
    file: "lint.pools",
    many: true,
    summary:
      "files or folders that declare every node pool there is: scripts, Terraform, pools.yaml, gcloud's list as JSON",
    read: readText,
  },
  profile: {
    flag: "profile",
    value: "auto|standard|autopilot",
    file: "lint.profile",
    default: "auto",
    summary: "the kind of cluster; auto: as the files tell, else standard",
    read: readChoice(["auto", "standard", "autopilot"]),
  },
  gkeVersion: {
    flag: "gke-version",
    value: "VERSION",
    file: "lint.gkeVersion",
    summary: "the control plane's version, such as 1.35.0-gke.1171000",
    read: readVersion,
  },
  baseline: {
    flag: "baseline",
    value: "FILE",
    file: "lint.baseline",
    summary: "findings that were there before and do not count",
    read: readText,
  },
  writeBaseline: {
    flag: "write-baseline",
    variable: false,
    summary: "write all present findings to the --baseline file",
    read: readFlag,
  },
  lintIgnore: {
    flag: "ignore",
    value: "ENTRY",
    variable: false,
    file: "lint.ignore",
    many: true,
    summary: 'pass over a rule at one place: "RULE KIND/NAME: why" or "RULE PATH: why"',
    read: readText,
  },
  noRender: {
    flag: "no-render",
    variable: false,
    summary: "do not run helm or kustomize on charts and kustomizations",
    read: readFlag,
  },
  allowEmpty: { flag: "allow-empty", variable: false, summary: "finding nothing to lint is no error", read: readFlag },
  explainRule: {
    flag: "explain",
    value: "RULE",
    variable: false,
    summary: "say what a rule is about, and why",
    read: readText,
  },
};
