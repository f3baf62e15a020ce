import { exitCodes } from "../../core/index.ts";
import { type SettingName, settings } from "../../spec/index.ts";
import type { Command } from "../command.ts";
import type { ConfigExplainJson } from "../json/config-explain.ts";
import { formatTable } from "../ui/table.ts";
import { runFlags } from "./run-flags.ts";

/** `outlast config explain` */
export const configExplain: Command = {
  name: "config explain",
  summary: "show each value and where it comes from",
  description:
    "Shows the value of every setting of `outlast run` and its origin: default, outlast.yaml, a variable or a flag. Takes the same flags.",
  examples: [{ text: "What would this directory's outlast.yaml do?", command: "outlast config explain" }],
  flags: [...runFlags, "json"],
  required: [],
  handler: async ({ values, origins }, { print, printJson }) => {
    const shown = origins
      .filter(({ name }) => name !== "json")
      .map(({ name, text, from }) => ({ name: settings[name].flag, value: text, from }));
    if (values.json) {
      printJson({ schema: 1, settings: shown } satisfies ConfigExplainJson);
      return exitCodes.finished;
    }
    const unset = runFlags.filter((name: SettingName) => !origins.some((origin) => origin.name === name));
    print(
      formatTable(
        [{ title: "SETTING" }, { title: "VALUE" }, { title: "FROM" }],
        [
          ...shown.map(({ name, value, from }) => [name, value, from]),
          ...unset.map((name) => [settings[name].flag, "-", "not set"]),
        ],
      ),
    );
    return exitCodes.finished;
  },
};
