import { CommanderError, Command as Parser } from "commander";
import { OutlastError } from "../core/index.ts";
import { type RawSettings, type Setting, type SettingName, settings, suggest, variableOf } from "../spec/index.ts";
import { type Command, commonFlags } from "./command.ts";
import { commands, groups } from "./commands/index.ts";
import type { Io } from "./io.ts";
import { readVersion } from "./version.ts";

/** What a command line asks for. */
export type Parsed =
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly flags: RawSettings;
      readonly operands: readonly string[];
      readonly tail: readonly string[];
    }
  /** Help or the version was asked for and has been printed. */
  | { readonly kind: "printed" };

/** Reads a command line. The only file that knows the parser; everything it offers comes from the command objects. */
export async function parseCommandLine(args: readonly string[], io: Io): Promise<Parsed> {
  const cut = args.indexOf("--");
  const given = cut < 0 ? args : args.slice(0, cut);
  // The parser's own help command knows one word only; ours have up to two.
  const own = given[0] === "help" ? [...given.slice(1), "--help"] : given;
  const tail = cut < 0 ? undefined : args.slice(cut + 1);

  let parsed: Parsed = { kind: "printed" };
  const program = createProgram(io, (command, flags, operands) => {
    parsed = { kind: "run", command, flags, operands, tail: checkTail(command, tail) };
  });
  try {
    await program.parseAsync(withBareValues(own), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "printed" };
    throw explain(error, own);
  }
  return parsed;
}

/** A flag that may stand alone gets its value here: the parser would take the next word for it. */
function withBareValues(own: readonly string[]): string[] {
  const names = findCommand(own)?.flags ?? [];
  return own.map((word) => {
    const bare = names
      .map((name): Setting<unknown> => settings[name])
      .find((one) => one.bare && word === `--${one.flag}`);
    return bare ? `${word}=${bare.bare ?? ""}` : word;
  });
}

type Act = (command: Command, flags: RawSettings, operands: readonly string[]) => void;

function createProgram(io: Io, act: Act): Parser {
  const program = new Parser("outlast")
    .description("AI work that survives the capacity it runs on being taken away.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command...]", "show help for a command")
    // A command's own --version must not be taken for the program's.
    .enablePositionalOptions();
  settle(program, io);
  program.addHelpText(
    "after",
    "\nFlags may also come from outlast.yaml and OUTLAST_* variables: defaults < file < environment < flags.",
  );

  for (const command of commands) addCommand(program, command, io, act);
  return program;
}

function findGroup(program: Parser, name: string, io: Io): Parser {
  const known = program.commands.find((one) => one.name() === name);
  if (known) return known;
  const group = groups.find((one) => one.name === name);
  const parser = settle(program.command(name), io)
    .summary(group?.summary ?? "")
    .description(group?.description ?? "")
    .helpCommand(false);
  parser.action(() => {
    const words = parser.commands.map((one) => one.name());
    const [word] = parser.args;
    const near = word === undefined ? undefined : suggest(word, words);
    throw new OutlastError(
      "OUTLAST_USAGE",
      word === undefined ? `"outlast ${name}" needs one more word` : `unknown command "${name} ${word}"`,
      { hint: near ? `did you mean "outlast ${name} ${near}"?` : `one of ${words.join(", ")}` },
    );
  });
  return parser;
}

function addCommand(program: Parser, command: Command, io: Io, act: Act): void {
  const [first = "", second] = command.name.split(" ");
  const parent = second === undefined ? program : findGroup(program, first, io);
  const parser = settle(
    parent
      .command(second ?? first)
      .summary(command.summary)
      .description(command.description),
    io,
  );
  const names = [...command.flags, ...commonFlags];
  for (const name of names) {
    const setting: Setting<unknown> = settings[name];
    const spelt = `--${setting.flag}${setting.value ? (setting.bare ? ` [${setting.value}]` : ` <${setting.value}>`) : ""}`;
    const text = `${setting.summary}${setting.default ? ` (default ${setting.default})` : ""}`;
    if (setting.many) parser.option(spelt, text, (value: string, all: string[] | undefined) => [...(all ?? []), value]);
    else parser.option(spelt, text);
  }
  parser.usage(usageOf(command));
  parser.addHelpText("after", () => helpTail(command, names));
  parser.action(() => {
    checkOperands(command, parser.args);
    act(command, rawFlags(names, parser.opts()), parser.args);
  });
}

function settle(parser: Parser, io: Io): Parser {
  return parser
    .exitOverride()
    .allowExcessArguments(true)
    .showSuggestionAfterError(false)
    .configureHelp({ helpWidth: Math.min(io.stdout.columns ?? 100, 110) })
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
}

function helpTail(command: Command, names: readonly SettingName[]): string {
  const lines = command.examples.flatMap(({ text, command: line }) => [`  # ${text}`, `  ${line}`]);
  const variables = names.flatMap((name) => variableOf(name) ?? []);
  return [
    "",
    ...(lines.length > 0 ? ["Examples:", ...lines, ""] : []),
    ...(variables.length > 0 ? [`Variables: ${variables.join(" ")}`] : []),
  ].join("\n");
}

function rawFlags(names: readonly SettingName[], options: Record<string, unknown>): RawSettings {
  const raw: Partial<Record<SettingName, string | string[]>> = {};
  for (const name of names) {
    const { flag } = settings[name];
    // `--no-x` arrives as the negation of x.
    const value = flag.startsWith("no-") ? options[camel(flag.slice(3))] === false || undefined : options[camel(flag)];
    if (value !== undefined)
      raw[name] = Array.isArray(value) ? value.map(String) : typeof value === "string" ? value : JSON.stringify(value);
  }
  return raw;
}

function camel(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What follows a command's name, in help and reference pages. */
export function usageOf({ operands, positional, isPositionalOptional }: Command): string {
  const before = operands ? (operands.required ? `${operands.label} ` : `[${operands.label}] `) : "";
  const after = positional ? (isPositionalOptional ? ` [-- ${positional}]` : ` -- ${positional}`) : "";
  return `${before}[options]${after}`;
}

function checkOperands(command: Command, given: readonly string[]): void {
  const [first] = given;
  if (command.operands) {
    if (first !== undefined || !command.operands.required) return;
    throw new OutlastError("OUTLAST_USAGE", `"outlast ${command.name}" got no ${command.operands.label}`, {
      hint: `write outlast ${command.name} ${usageOf(command)}`,
    });
  }
  if (first === undefined) return;
  throw new OutlastError("OUTLAST_USAGE", `unexpected argument "${first}"`, {
    hint: command.positional
      ? `put two dashes before the program: outlast ${command.name} … -- ${given.join(" ")}`
      : `see outlast ${command.name} --help`,
  });
}

function checkTail(command: Command, tail: readonly string[] | undefined): readonly string[] {
  if (command.positional) {
    if (tail && tail.length > 0) return tail;
    if (command.isPositionalOptional && !tail) return [];
    throw new OutlastError("OUTLAST_USAGE", `"outlast ${command.name}" got no program to run`, {
      hint: `put it after two dashes: outlast ${command.name} … -- python train.py`,
    });
  }
  if (!tail) return [];
  throw new OutlastError("OUTLAST_USAGE", `"outlast ${command.name}" takes nothing after "--"`, {
    hint: `leave "-- ${tail.join(" ")}" out`,
  });
}

/** The parser's complaint in our words, with a suggestion where one is near. */
function explain(error: CommanderError, own: readonly string[]): OutlastError {
  const said = error.message.replace(/^error: /, "").replace(/\.?$/, "");
  const word = /'([^']*)'/.exec(said)?.[1] ?? "";
  const command = findCommand(own);
  switch (error.code) {
    case "commander.unknownOption": {
      const flags = command
        ? [...command.flags, ...commonFlags].map((name) => `--${settings[name].flag}`)
        : ["--help", "--version"];
      const near = suggest(word, flags);
      return new OutlastError(
        "OUTLAST_USAGE",
        `unknown flag ${word}${command ? ` of "outlast ${command.name}"` : ""}`,
        {
          hint: near
            ? `did you mean ${near}?`
            : `see outlast ${command?.name ?? ""} --help; the program's own flags go after "--"`.replace("  ", " "),
        },
      );
    }
    case "commander.unknownCommand": {
      const near = suggest(
        word,
        [...commands, ...groups].map(({ name }) => name),
      );
      return new OutlastError("OUTLAST_USAGE", `unknown command "${word}"`, {
        hint: near ? `did you mean "outlast ${near}"?` : "see outlast --help",
      });
    }
    case "commander.optionMissingArgument":
      return new OutlastError("OUTLAST_USAGE", `flag ${word.split(" ")[0]} needs a value`, {
        hint: `write ${word.replace(/[<>]/g, "")}`,
      });
    case "commander.help":
      return new OutlastError("OUTLAST_USAGE", "no command was given", {
        hint: `try outlast demo, or see outlast --help`,
      });
    default:
      return new OutlastError("OUTLAST_USAGE", said, { hint: "see outlast --help" });
  }
}

function findCommand(own: readonly string[]): Command | undefined {
  return (
    commands.find(({ name }) => name === own.slice(0, 2).join(" ")) ?? commands.find(({ name }) => name === own[0])
  );
}
