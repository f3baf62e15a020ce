import { OutlastError } from "../core/index.ts";
import { type Setting, type SettingName, settings } from "./settings.ts";
import type { Values } from "./resolve.ts";

/** Settings that contradict each other, and why. */
const exclusive: readonly { readonly pair: readonly [SettingName, SettingName]; readonly why: string }[] = [
  { pair: ["shard", "perIndex"], why: "pods are either shards of one run or independent runs" },
  { pair: ["again", "restoreOnly"], why: "a rank that ships nothing cannot start the run anew" },
  { pair: ["endsAt", "endsAtFile"], why: "the end is known from one place" },
  { pair: ["handler", "http"], why: "items are handled in one place" },
];

/** Refuses illegal pairs and missing settings before any work is done. */
export function checkRules(values: Values, required: readonly SettingName[]): void {
  for (const { pair, why } of exclusive) {
    const [a, b] = pair;
    if (!isSet(values[a]) || !isSet(values[b])) continue;
    throw new OutlastError(
      "OUTLAST_USAGE",
      `--${settings[a].flag} and --${settings[b].flag} cannot be given together`,
      {
        hint: `${why}; leave one of them out`,
      },
    );
  }
  const missing = required.filter((name) => values[name] === undefined);
  if (missing.length === 0) return;
  const flags = missing.map((name) => spell(name));
  throw new OutlastError("OUTLAST_USAGE", `missing ${flags.join(" and ")}`, {
    hint: missing.map((name) => `${spell(name)}: ${settings[name].summary}`).join("; "),
  });
}

function spell(name: SettingName): string {
  const setting: Setting<unknown> = settings[name];
  return `--${setting.flag}${setting.value ? ` ${setting.value}` : ""}`;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== false;
}
