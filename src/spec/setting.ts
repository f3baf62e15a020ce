import type { Reader } from "./readers.ts";

/** One setting: how it is spelt everywhere it may be given, and how it is read. */
export interface Setting<T> {
  /** Long flag without its dashes. */
  readonly flag: string;
  /** What stands for the value in help; a setting without one is a switch. */
  readonly value?: string;
  /** What the flag means when it stands alone; a value is then given as `--flag=VALUE` only. */
  readonly bare?: string;
  /** Where it stands in outlast.yaml; settings of a single call have no place there. */
  readonly file?: string;
  /** False for settings of a single call: they have no variable. @default true */
  readonly variable?: boolean;
  /** May be given several times; each value is read by itself. */
  readonly many?: boolean;
  readonly summary: string;
  /** As a user would write it. */
  readonly default?: string;
  readonly read: Reader<T extends readonly (infer One)[] ? One : T>;
}
