import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes, isOutlastError, OutlastError } from "../../core/index.ts";
import type { LintOptions, LintResult } from "../../lint/index.ts";
import type { Command, CommandArgs, CommandContext } from "../command.ts";
import type { LintJson } from "../json/lint.ts";
import { styleFor } from "../ui/style.ts";
import { readVersion } from "../version.ts";

/** `outlast lint` */
export const lint: Command = {
  name: "lint",
  summary: "find what will break under eviction, before it is applied",
  description:
    "Joins every pod template with the node pools that scripts, Terraform, ComputeClasses and lists declare, works out on which capacity each pod must, may or never lands, and says what breaks there: lost checkpoints, evictions that count as failures, pods that never find a node. Exit code 1 means findings at or above --fail-on.",
  examples: [
    { text: "Everything below a folder", command: "outlast lint k8s/" },
    { text: "With all pools of the cluster", command: "outlast lint k8s/ --pools infra/" },
    { text: "What --fix would change", command: "outlast lint k8s/ --fix --diff" },
    { text: "From a pipe, for a pull request", command: "helm template chart | outlast lint - --format github" },
    { text: "What a rule is about", command: "outlast lint --explain trap-exit-zero-in-job" },
  ],
  flags: [
    ...(["lintFormat", "json", "failOn", "fix", "diff", "pools", "profile", "gkeVersion"] as const),
    ...(["baseline", "writeBaseline", "lintIgnore", "noRender", "allowEmpty", "explainRule"] as const),
  ],
  required: [],
  operands: { label: "PATH…", required: false },
  handler: async (args, context) => {
    try {
      return await runLint(args, context);
    } catch (error) {
      if (isOutlastError(error)) throw error;
      throw new OutlastError("OUTLAST_LINT_FAILED", `the linter failed: ${String(error)}`, {
        hint: "please report it with the file that it fails on",
        cause: error,
      });
    }
  },
};

async function runLint(args: CommandArgs, context: CommandContext): Promise<number> {
  const { values, operands } = args;
  if (values.explainRule !== undefined) return explain(values.explainRule, context);
  if (operands.length === 0) {
    throw new OutlastError("OUTLAST_USAGE", '"outlast lint" got no PATH…', {
      hint: "write outlast lint k8s/, or - for standard input",
    });
  }
  const tools = await import("../../lint/index.ts");
  const gathered = await tools.gatherInputs({
    paths: operands,
    pools: values.pools ?? [],
    cwd: context.cwd,
    env: context.env,
    render: !values.noRender,
    readStdin: readAllOfStdin,
  });
  const options: LintOptions = {
    poolFiles: gathered.poolFiles,
    profile: values.profile === "auto" ? undefined : values.profile,
    gkeVersion: values.gkeVersion,
    ignore: values.lintIgnore ?? [],
  };
  let result = tools.lintSources(gathered.files, options);
  if (result.counts.files === 0 && !values.allowEmpty) {
    throw new OutlastError(
      "OUTLAST_USAGE",
      `nothing to lint in ${operands.join(", ")}: no Kubernetes object and no node pool`,
      {
        hint: `${gathered.skipped.map(({ path, why }) => `${path}: ${why}`).join("; ") || "give files with objects or pools"}; --allow-empty if that is as it should be`,
      },
    );
  }

  let fixed: readonly { readonly path: string; readonly fixes: number }[] = [];
  if (values.fix || values.diff) {
    const mended = tools.mend(gathered, result, options, values.fix === "unsafe");
    if (values.diff) {
      for (const { file, text } of mended.files) context.print(tools.unifiedDiff(file.path, file.text, text));
      context.stderr.write(`${mended.files.length} file${mended.files.length === 1 ? "" : "s"} would change\n`);
      return exitCodes.finished;
    }
    for (const { file, text } of mended.files) await write(file.path, text, context);
    fixed = mended.files.map(({ file, fixes }) => ({ path: file.path, fixes }));
    result = mended.result;
  }
  if (values.writeBaseline) return writeBaseline(args, context, tools, result);
  const { known, stale, rest } = await applyBaseline(args, context, tools, result);
  const skipped = [...gathered.skipped, ...rest.passedOver];
  print(args, context, tools, rest, { known, skipped, fixed });
  if (!values.json && values.lintFormat !== "json") {
    for (const { path, why } of skipped) context.stderr.write(`skipped ${path}: ${why}\n`);
    for (const { path, fixes } of fixed)
      context.stderr.write(`mended ${path}: ${fixes} fix${fixes === 1 ? "" : "es"}\n`);
    if (known > 0) context.stderr.write(`${known} findings are in the baseline\n`);
    if (stale.length > 0)
      context.stderr.write(
        `${stale.length} entries of the baseline are found no more; write it anew with --write-baseline\n`,
      );
  }
  return isOverBar(rest, values.failOn ?? "error") ? exitCodes.failed : exitCodes.finished;
}

type Tools = typeof import("../../lint/index.ts");

/** What is told besides the findings. */
interface More {
  readonly known: number;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
  readonly fixed: readonly { readonly path: string; readonly fixes: number }[];
}

function print({ values }: CommandArgs, context: CommandContext, tools: Tools, result: LintResult, more: More): void {
  const format = values.json ? "json" : (values.lintFormat ?? "pretty");
  if (format === "json") context.printJson(asJson(result, more));
  else if (format === "sarif") context.printJson(tools.formatSarif(result, readVersion()));
  else if (format === "github") {
    const text = tools.formatGithub(result);
    if (text !== "") context.print(text);
  } else {
    const style = styleFor(context.stdout, context.env);
    context.print(tools.formatPretty(result, (colour, text) => style(colour, text)));
  }
}

function asJson({ findings, suppressed, counts }: LintResult, more: More): LintJson {
  return {
    schema: 1,
    findings: findings.map(({ span: _, fix, related, ...finding }) => ({
      ...finding,
      related: related ? { ...related } : null,
      fix: fix ? { safety: fix.safety, title: fix.title } : null,
    })),
    suppressed: suppressed.map(({ finding: { rule, file, line, column }, reason }) => ({
      rule,
      file,
      line,
      column,
      reason,
    })),
    counts: { ...counts, known: more.known },
    skipped: more.skipped.map((one) => ({ ...one })),
    fixed: more.fixed.map((one) => ({ ...one })),
  };
}

async function writeBaseline(
  { values }: CommandArgs,
  context: CommandContext,
  tools: Tools,
  result: LintResult,
): Promise<number> {
  if (!values.baseline) {
    throw new OutlastError("OUTLAST_USAGE", "--write-baseline needs --baseline FILE", {
      hint: "name the file to write",
    });
  }
  await write(values.baseline, `${JSON.stringify(tools.baselineOf(result.findings), undefined, 2)}\n`, context);
  context.stderr.write(`${result.findings.length} findings written to ${values.baseline}\n`);
  return exitCodes.finished;
}

async function applyBaseline(
  { values }: CommandArgs,
  context: CommandContext,
  tools: Tools,
  result: LintResult,
): Promise<{ readonly known: number; readonly stale: readonly string[]; readonly rest: LintResult }> {
  if (!values.baseline) return { known: 0, stale: [], rest: result };
  const text = await readFile(resolve(context.cwd, values.baseline), "utf8").catch((cause: unknown) => {
    throw new OutlastError("OUTLAST_USAGE", `the baseline ${values.baseline ?? ""} cannot be read`, {
      hint: "write it first: add --write-baseline",
      cause,
    });
  });
  const baseline = tools.readBaseline(text);
  if (!baseline) {
    throw new OutlastError("OUTLAST_CONFIG", `${values.baseline} is no baseline`, {
      hint: "write it anew with --write-baseline",
    });
  }
  const { result: rest, known, stale } = tools.withBaseline(result, baseline);
  return { known, stale, rest };
}

function isOverBar({ findings }: LintResult, bar: "error" | "warning" | "info" | "never"): boolean {
  const ranks = { info: 0, warning: 1, error: 2, never: 3 };
  return findings.some(({ severity }) => ranks[severity] >= ranks[bar]);
}

async function explain(id: string, context: CommandContext): Promise<number> {
  const { explainRule } = await import("../../lint/index.ts");
  const found = explainRule(id);
  if (!found.rule) {
    throw new OutlastError("OUTLAST_USAGE", `there is no rule "${id}"`, {
      hint: found.near ? `did you mean ${found.near}?` : "docs/reference/rules lists them all",
    });
  }
  const { rule } = found;
  context.print(
    [
      `${rule.id} (${rule.severity})`,
      "",
      `${rule.title}.`,
      "",
      rule.why,
      "",
      `Fix: ${rule.fix}`,
      "",
      `Sources: ${rule.sources.join("; ")}`,
    ].join("\n"),
  );
  return exitCodes.finished;
}

async function write(path: string, text: string, context: CommandContext): Promise<void> {
  try {
    await writeFile(resolve(context.cwd, path), text);
  } catch (cause) {
    throw new OutlastError("OUTLAST_FILE_FAILED", `${path} cannot be written`, {
      target: path,
      hint: "look at the file's permissions and its folder",
      cause,
    });
  }
}

async function readAllOfStdin(): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}
