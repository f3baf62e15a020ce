import { createLogger, exitCodes, isOutlastError, type Logger, OutlastError, type Severity } from "../core/index.ts";
import {
  checkRules,
  loadSpecFile,
  refuseUnknownVariables,
  resolveSettings,
  type SettingName,
  type SettingTypes,
  type Values,
} from "../spec/index.ts";
import { type CommandArgs, type CommandContext, commonFlags } from "./command.ts";
import type { Io } from "./io.ts";
import { type Parsed, parseCommandLine } from "./program.ts";
import { createProgress } from "./ui/progress.ts";

/** Runs one command line and gives its exit code: the one place where errors are caught and told. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  try {
    const parsed = await parseCommandLine(args, io);
    return parsed.kind === "printed" ? exitCodes.finished : await runCommand(parsed, io);
  } catch (error) {
    return tell(error, args, io);
  }
}

async function runCommand(parsed: Extract<Parsed, { kind: "run" }>, io: Io): Promise<number> {
  const { command, flags, operands, tail } = parsed;
  refuseUnknownVariables(io.env);
  const names = [...command.flags, ...commonFlags];
  // Where the file is must be known before the file can be merged.
  const { config } = resolveSettings(["config"], { flags, env: io.env, file: {} }).values;
  const file = await loadSpecFile(io.cwd, config);
  const { values, origins } = resolveSettings(names, { flags, env: io.env, file: file.settings, filePath: file.path });
  checkRules(values, command.required);

  const logger = loggerFor(values, io);
  const progress = createProgress({ io, logger, enabled: !values.noProgress });
  const context: CommandContext = {
    ...io,
    logger,
    progress,
    print: (text) => io.stdout.write(`${text}\n`),
    printJson: (value) => io.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`),
  };
  const commandArgs: CommandArgs = { values, origins, operands, tail, need: (name) => need(values, name) };
  try {
    return await command.handler(commandArgs, context);
  } finally {
    progress.done();
  }
}

function need<Name extends SettingName>(values: Values, name: Name): SettingTypes[Name] {
  const value = values[name];
  // A command that asks for what it did not list as required is a bug of ours, not of the user.
  if (value === undefined) throw new Error(`the command needs "${name}" but does not require it`);
  return value;
}

function loggerFor(values: Values, io: Io): Logger {
  const format =
    values.logFormat === "auto" || !values.logFormat ? (io.stderr.isTTY ? "pretty" : "json") : values.logFormat;
  return createLogger({
    write: (line) => io.stderr.write(line),
    format,
    level: (values.logLevel ?? "info").toUpperCase() as Severity,
    now: () => io.clock.now(),
  });
}

function tell(error: unknown, args: readonly string[], io: Io): number {
  const ownArgs = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (ownArgs.includes("--json")) {
    io.stderr.write(`${JSON.stringify(errorJson(error))}\n`);
  } else if (isOutlastError(error)) {
    io.stderr.write(`error: ${error.message}\n`);
    if (error.hint) io.stderr.write(`\nhint: ${error.hint}\n`);
  } else {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(
      `error: this is a bug in outlast\n\n${stack}\n\nhint: please report it with the lines above (CONTRIBUTING.md says how)\n`,
    );
  }
  return error instanceof OutlastError ? error.exitCode : exitCodes.failed;
}

function errorJson(error: unknown): object {
  if (!isOutlastError(error)) {
    return { schema: 1, error: { code: "OUTLAST_BUG", message: String(error), exitCode: exitCodes.failed } };
  }
  const { code, message, hint, exitCode } = error;
  return { schema: 1, error: { code, message, ...(hint === undefined ? {} : { hint }), exitCode } };
}
