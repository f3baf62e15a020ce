import type { Command } from "../command.ts";
import { checkpointsCopy } from "./checkpoints-copy.ts";
import { checkpointsList } from "./checkpoints-list.ts";
import { checkpointsPin, checkpointsUnpin } from "./checkpoints-pin.ts";
import { checkpointsPrune } from "./checkpoints-prune.ts";
import { checkpointsPull } from "./checkpoints-pull.ts";
import { checkpointsVerify } from "./checkpoints-verify.ts";
import { configExplain } from "./config-explain.ts";
import { demo } from "./demo.ts";
import { init } from "./init.ts";
import { manifest } from "./manifest.ts";
import { plan } from "./plan.ts";
import { lint } from "./lint.ts";
import { publish } from "./publish.ts";
import { queueAudit } from "./queue-audit.ts";
import { queueCreate } from "./queue-create.ts";
import { queueDead } from "./queue-dead.ts";
import { queueExport } from "./queue-export.ts";
import { queuePurge } from "./queue-purge.ts";
import { queueRetry } from "./queue-retry.ts";
import { queueServe } from "./queue-serve.ts";
import { queueStatus } from "./queue-status.ts";
import { run } from "./run.ts";
import { status } from "./status.ts";
import { work } from "./work.ts";

/** Commands of two words share their first one. */
export const groups: readonly { readonly name: string; readonly summary: string; readonly description: string }[] = [
  {
    name: "checkpoints",
    summary: "look after a run's checkpoints",
    description: "Lists, verifies, fetches, prunes, pins and copies the checkpoints of a run.",
  },
  {
    name: "queue",
    summary: "look after a queue",
    description:
      "Makes a queue, shows how far it is, looks after its dead letters, proves that nothing is missing, exports results.",
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
  publish,
  work,
  queueCreate,
  queueStatus,
  queueDead,
  queueRetry,
  queueAudit,
  queueExport,
  queuePurge,
  queueServe,
  checkpointsCopy,
  plan,
  init,
  manifest,
  lint,
  configExplain,
];
