import { z } from "zod";
import { type Command, commonFlags } from "../../src/cli/command.ts";
import { commands, groups } from "../../src/cli/commands/index.ts";
import { jsonShapes } from "../../src/cli/json/index.ts";
import { usageOf } from "../../src/cli/program.ts";
import { errorCodes, exitCodes } from "../../src/core/index.ts";
import { documentSchema } from "../../src/spec/file-schema.ts";
import { rulePages } from "./rule-pages.ts";
import { type Setting, type SettingName, settings, variableOf } from "../../src/spec/index.ts";
import { describeKeys } from "../../src/spec/workload/index.ts";

const note = "<!-- Made by `npm run docs` from the source; do not edit. -->\n";
const allSettings = Object.entries(settings) as [SettingName, Setting<unknown>][];

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  finished: "the work is finished",
  failed: "something failed",
  usage: "wrong usage or configuration",
  internal: "`lint` only: a fault of the linter itself, so that it is not taken for findings",
  evicted: "evicted: start me again and I resume (EX_TEMPFAIL)",
  noGoodCheckpoint: "checkpoints exist but none verifies, or their log is gone: refused to start over silently",
  superseded: "superseded: a later start of the same run took over",
  interrupted: "Ctrl-C",
};

/** Generated reference pages by their path below docs/reference. */
export function referencePages(): Record<string, string> {
  return {
    "cli.md": cliPage(),
    "configuration.md": configurationPage(),
    "errors.md": errorsPage(),
    "json-output.md": jsonPage(),
    ...rulePages(),
    "workload.md": workloadPage(),
    "outlast.schema.json": `${JSON.stringify(z.toJSONSchema(documentSchema()), undefined, 2)}\n`,
  };
}

function cliPage(): string {
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `| ${code} | ${exitMeanings[name as keyof typeof exitCodes]} |`,
  );
  return [
    "# Commands\n",
    note,
    "Every flag may also come from a variable or from `outlast.yaml`, where the table names one; see [configuration](configuration.md).\n",
    "## Exit codes\n",
    "They never change once released. Any other code is the program's own (128 + n when a signal that outlast did not send ended it).\n",
    "| code | meaning |",
    "|---|---|",
    ...codes,
    "",
    ...groups.flatMap(({ name, description }) => [`## outlast ${name}\n`, `${description}\n`, ...under(name)]),
    ...commands.filter(({ name }) => !name.includes(" ")).flatMap((command) => commandSection(command, "##")),
  ].join("\n");
}

function under(group: string): string[] {
  return commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .flatMap((command) => commandSection(command, "###"));
}

function commandSection(command: Command, heading: string): string[] {
  return [
    `${heading} outlast ${command.name}\n`,
    `\`outlast ${command.name} ${usageOf(command)}\`\n`,
    `${command.description}\n`,
    "| flag | meaning | variable | in outlast.yaml |",
    "|---|---|---|---|",
    ...[...command.flags, ...commonFlags].map((name) => flagRow(name, command.required.includes(name))),
    "",
    ...command.examples.flatMap(({ text, command: line }) => [`${text}:\n`, "```sh", line, "```", ""]),
  ];
}

function flagRow(name: SettingName, required: boolean): string {
  const setting: Setting<unknown> = settings[name];
  const variable = variableOf(name);
  const more = [
    ...(required && setting.default === undefined ? ["required"] : []),
    ...(setting.default === undefined ? [] : [`default ${setting.default}`]),
    ...(setting.many ? ["may be repeated"] : []),
  ];
  const cells = [
    code(`--${setting.flag}${setting.value ? ` ${setting.value}` : ""}`),
    `${setting.summary}${more.length > 0 ? ` (${more.join("; ")})` : ""}`,
    variable ? code(variable) : "",
    setting.file ? code(setting.file) : "",
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function configurationPage(): string {
  const inFile = allSettings.filter(([, setting]) => setting.file);
  return [
    "# Configuration\n",
    note,
    "Order: defaults < `outlast.yaml` < `OUTLAST_*` variables < flags. `outlast config explain` shows every value and where it came from.",
    "Unknown keys, variables and flags are errors (exit 2). The file is `./outlast.yaml`, or what `--config` or `OUTLAST_CONFIG` names;",
    "[outlast.schema.json](outlast.schema.json) is the JSON Schema of its documents, for editors; a document with `kind` is a [workload](workload.md). Variables of settings that may be repeated hold one value a line.\n",
    "| key | variable | meaning | default |",
    "|---|---|---|---|",
    ...inFile.map(([name, setting]) => {
      const cells = [code(setting.file ?? ""), code(variableOf(name) ?? ""), setting.summary, setting.default ?? ""];
      return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    }),
    "",
  ].join("\n");
}

function workloadPage(): string {
  return [
    "# Workloads in outlast.yaml\n",
    note,
    "A document that has `kind` is a workload: `outlast manifest` turns it into Kubernetes objects, commands and Terraform. A file may hold several, as YAML",
    "documents; one document without `kind` may hold settings, `cluster`, `namespace` and `outlast` for all of them. Unknown keys and contradictions are errors",
    "(exit 2), all of them told at once, each with its line.\n",
    "[Settings](configuration.md) may stand beside a workload's own keys. `run.*`, `batch.*` and `log.*` are passed on to `outlast run` and `outlast work` in the pods. Where both",
    "say the same thing (`checkpoint.store` and `store`, `checkpoint.dir` and `run.dir`, `checkpoint.keep` and `run.keep`, `grace` and `run.grace`, `name` and `run.name`,",
    "`queue` and `batch.queue`, `results` and `batch.results`), manifests take the workload's key and fall back to the setting (the run's name: the other way round);",
    "commands that read the file here take the setting and fall back to the key of the file's only workload.\n",
    "| key | meaning |",
    "|---|---|",
    ...describeKeys().map(({ key, means }) => `| ${code(key)} | ${means.replaceAll("|", "\\|")} |`),
    "",
  ].join("\n");
}

function errorsPage(): string {
  return [
    "# Errors\n",
    note,
    "Every expected failure has a code, a message that names the object, and a hint. Under `--json` the code is in `error.code`.\n",
    "| code | meaning | exit code |",
    "|---|---|---|",
    ...Object.entries(errorCodes).map(([name, { means, exit }]) => `| ${code(name)} | ${means} | ${exit} |`),
    "",
  ].join("\n");
}

function jsonPage(): string {
  return [
    "# JSON output\n",
    note,
    "With `--json` a command writes one object to standard output and nothing else there. `schema` is the version of the shape: fields may be added",
    "within a version, never renamed or removed. Each shape below is a JSON Schema.\n",
    ...Object.entries(jsonShapes).flatMap(([name, shape]) => [
      `## ${name}\n`,
      "```json",
      JSON.stringify(withoutDialect(z.toJSONSchema(shape)), undefined, 2),
      "```",
      "",
    ]),
  ].join("\n");
}

function withoutDialect(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
