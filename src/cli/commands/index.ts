import type { Command } from "../command.ts";
import { checkpointsList } from "./checkpoints-list.ts";
import { checkpointsPin, checkpointsUnpin } from "./checkpoints-pin.ts";
import { checkpointsPrune } from "./checkpoints-prune.ts";
import { checkpointsPull } from "./checkpoints-pull.ts";
import { checkpointsVerify } from "./checkpoints-verify.ts";
import { configExplain } from "./config-explain.ts";
import { demo } from "./demo.ts";
import { run } from "./run.ts";
import { status } from "./status.ts";

/** Commands of two words share their first one. */
export const groups: readonly { readonly name: string; readonly summary: string; readonly description: string }[] = [
  {
    name: "checkpoints",
    summary: "look after a run's checkpoints",
    description: "Lists, verifies, fetches, prunes and pins the checkpoints of a run.",
  },
  { name: "config", summary: "look at the configuration", description: "Shows what outlast was told, and by whom." },
];

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  demo,
  run,
  status,
  checkpointsList,
  checkpointsVerify,
  checkpointsPull,
  checkpointsPrune,
  checkpointsPin,
  checkpointsUnpin,
  configExplain,
];
