import type { Logger } from "../core/index.ts";
import type { Origin, SettingName, SettingTypes, Values } from "../spec/index.ts";
import type { Io } from "./io.ts";
import type { Progress } from "./ui/progress.ts";

/** One line of a command's examples. */
export interface Example {
  readonly text: string;
  readonly command: string;
}

/** What a handler is given: validated settings and what stands after `--`. */
export interface CommandArgs {
  readonly values: Values;
  /** The value of a setting the command requires. */
  readonly need: <Name extends SettingName>(name: Name) => SettingTypes[Name];
  /** Where each value came from. */
  readonly origins: readonly Origin[];
  readonly tail: readonly string[];
  /** What was given before `--` besides flags. */
  readonly operands: readonly string[];
}

/** What a handler may use of the world. */
export interface CommandContext extends Io {
  readonly logger: Logger;
  readonly progress: Progress;
  /** Text on standard output, newline added. */
  readonly print: (text: string) => void;
  /** One JSON object on standard output. */
  readonly printJson: (value: object) => void;
}

/** A command as one object; help and the reference pages are derived from it. */
export interface Command {
  /** One or two words: `run`, `checkpoints list`. */
  readonly name: string;
  /** Half a sentence for lists. */
  readonly summary: string;
  readonly description: string;
  readonly examples: readonly Example[];
  readonly flags: readonly SettingName[];
  readonly required: readonly SettingName[];
  /** What stands after `--`, such as `CMD…`; a command without it takes nothing there. */
  readonly positional?: string;
  /** Whether `positional` may be left out. @default false */
  readonly isPositionalOptional?: boolean;
  /** What stands before `--` besides flags, such as `SOURCE…`; a command without it takes nothing there. */
  readonly operands?: { readonly label: string; readonly required: boolean };
  /** Runs the command and gives its exit code. Loads what is heavy only when called. */
  readonly handler: (args: CommandArgs, context: CommandContext) => Promise<number>;
}

/** Flags that every command takes. */
export const commonFlags: readonly SettingName[] = ["config", "logFormat", "logLevel"];
