import { z } from "zod";
import {
  checkpointsCopyJson,
  checkpointsListJson,
  checkpointsPinJson,
  checkpointsPruneJson,
  checkpointsPullJson,
  checkpointsVerifyJson,
} from "./checkpoints.ts";
import { configExplainJson } from "./config-explain.ts";
import { demoJson } from "./demo.ts";
import { manifestExplainJson, manifestJson } from "./manifest.ts";
import {
  publishJson,
  queueAuditJson,
  queueCreateJson,
  queueDeadJson,
  queueExportJson,
  queuePurgeJson,
  queueRetryJson,
  queueStatusJson,
} from "./queue.ts";
import { lintJson } from "./lint.ts";
import { statusJson, statusListJson } from "./status.ts";

/** What a failing command writes to standard error under `--json`. */
interface ErrorJson {
  schema: 1;
  error: { code: string; message: string; hint?: string | undefined; exitCode: number };
}

const errorJson: z.ZodType<ErrorJson> = z.strictObject({
  schema: z.literal(1),
  error: z.strictObject({
    code: z.string().describe("see errors.md; `OUTLAST_BUG` for what should never happen"),
    message: z.string(),
    hint: z.string().optional(),
    exitCode: z.number(),
  }),
});

/** The shape of every `--json` output, by command. */
export const jsonShapes: Readonly<Record<string, z.ZodType>> = {
  "checkpoints list": checkpointsListJson,
  "checkpoints verify": checkpointsVerifyJson,
  "checkpoints pull": checkpointsPullJson,
  "checkpoints prune": checkpointsPruneJson,
  "checkpoints pin, checkpoints unpin": checkpointsPinJson,
  "checkpoints copy": checkpointsCopyJson,
  "status (with --run)": statusJson,
  "status (without --run)": statusListJson,
  publish: publishJson,
  "queue status, queue serve at /queue/depth": queueStatusJson,
  "queue create": queueCreateJson,
  "queue dead": queueDeadJson,
  "queue retry": queueRetryJson,
  "queue audit": queueAuditJson,
  "queue export (with --out)": queueExportJson,
  "queue purge": queuePurgeJson,
  manifest: manifestJson,
  "manifest (with --explain)": manifestExplainJson,
  lint: lintJson,
  "config explain": configExplainJson,
  demo: demoJson,
  "a failing command (on standard error)": errorJson,
};
