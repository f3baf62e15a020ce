import { exitCodes, formatBytes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { CheckpointsVerifyJson } from "../json/checkpoints.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast checkpoints verify` */
export const checkpointsVerify: Command = {
  name: "checkpoints verify",
  summary: "read every byte of a run's checkpoints and compare it with its hash",
  description:
    "Reads every chunk of every checkpoint (or of one) and compares it with its hash. Changes nothing. Exits 1 when one is damaged.",
  examples: [{ text: "Is everything whole?", command: "outlast checkpoints verify --store /mnt/store --run bert" }],
  flags: ["store", "run", "step", "json", "noProgress"],
  required: ["store", "run"],
  handler: async (args, context) => {
    const { createTransfer, verifyCheckpoints } = await import("../../checkpoint/index.ts");
    const { openRunOf } = await import("../open-run.ts");
    const run = await openRunOf(args, context, "read");
    const transfer = createTransfer();
    try {
      const { checked, ok } = await verifyCheckpoints(run, {
        step: args.values.step,
        transfer,
        onProgress: (done) => context.progress.update({ what: "verifying", ...done }),
      });
      context.progress.done();
      if (args.values.json) {
        const shown = checked.map(({ step, position, bytes, ok: isWhole, faults }) => ({
          step,
          position,
          bytes,
          ok: isWhole,
          faults: faults.map(({ key, fault }) => ({ key, fault })),
        }));
        context.printJson({ schema: 1, run: run.run, ok, checked: shown } satisfies CheckpointsVerifyJson);
        return ok ? exitCodes.finished : exitCodes.failed;
      }
      if (checked.length === 0) {
        context.print(`run ${run.run} has no checkpoint to verify`);
        return exitCodes.finished;
      }
      context.print(
        formatTable(
          [{ title: "STEP", align: "right" }, { title: "SIZE", align: "right" }, { title: "RESULT" }],
          checked.map(({ step, bytes, ok: isWhole, faults }) => [
            String(step),
            formatBytes(bytes),
            isWhole ? "whole" : `DAMAGED: ${faults.length} object${faults.length === 1 ? "" : "s"}`,
          ]),
        ),
      );
      for (const { step, faults } of checked) {
        for (const { key, fault } of faults.slice(0, 20)) context.print(`step ${step}: ${key}: ${fault}`);
        if (faults.length > 20) context.print(`step ${step}: … and ${faults.length - 20} more; --json lists all`);
      }
      return ok ? exitCodes.finished : exitCodes.failed;
    } finally {
      await transfer.close();
    }
  },
};
