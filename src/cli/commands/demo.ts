import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes, formatDuration, OutlastError } from "../../core/index.ts";
import type { Command, CommandContext } from "../command.ts";
import type { StoryEvent, StoryResult } from "../demo/story.ts";
import type { DemoJson } from "../json/demo.ts";
import { styleFor } from "../ui/style.ts";
import { formatTable } from "../ui/table.ts";

const steps = 600;
const saveEvery = 30;

/** `outlast demo` */
export const demo: Command = {
  name: "demo",
  summary: "train a small model on this machine, evict it again and again, and compare the result",
  description:
    "Trains a small neural network for real (no GPU, network or Python), once undisturbed and once under `outlast run` while it is evicted four times: twice with a notice (SIGTERM), twice by a machine that vanishes with its disk (SIGKILL, local files deleted). Ends by comparing weights, optimizer and random state bit for bit. About half a minute; exits 1 if they differ.",
  examples: [{ text: "See it", command: "outlast demo" }],
  flags: ["keepFiles", "json", "noProgress"],
  required: [],
  handler: async ({ values }, context) => {
    const { playStory } = await import("../demo/story.ts");
    const dir = await mkdtemp(join(tmpdir(), "outlast-demo-"));
    try {
      const result = await playStory({
        dir,
        steps,
        saveEvery,
        paceMs: 20,
        evictions: [
          { kind: "notice", atStep: 110 },
          { kind: "vanish", atStep: 250 },
          { kind: "notice", atStep: 400 },
          { kind: "vanish", atStep: 530 },
        ],
        env: cleanEnvironment(context.env),
        clock: context.clock,
        onEvent: values.json ? () => {} : narrator(context),
      });
      if (values.json) context.printJson(asJson(result));
      else printResult(result, context);
      const fault = faultOf(result);
      if (fault) {
        throw new OutlastError("OUTLAST_DEMO_FAILED", fault, {
          hint: "please report this, with the output of outlast demo --json --keep-files",
        });
      }
      return exitCodes.finished;
    } finally {
      if (values.keepFiles) context.logger.info("the demo's files are kept", { dir });
      else await rm(dir, { recursive: true, force: true });
    }
  },
};

/** What is wrong with the result, if anything. The same bits could also come from starting over: that does not count. */
function faultOf({ reference, survivor, evictions }: StoryResult): string | undefined {
  if (reference !== survivor) return "the evicted run ended with other weights than the undisturbed one";
  const over = evictions.find(({ resumedAt }) => resumedAt === 0);
  return over && `the run evicted at step ${over.atStep} started over from step 0`;
}

/** The demo must not be steered by settings meant for a real run. */
function cleanEnvironment(env: CommandContext["env"]): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith("OUTLAST_") && name !== "KUBERNETES_SERVICE_HOST",
  );
  return Object.fromEntries(kept);
}

function narrator({ print, stdout, env }: CommandContext): (event: StoryEvent) => void {
  const style = styleFor(stdout, env);
  let told = 0;
  return (event) => {
    switch (event.kind) {
      case "reference":
        print(
          `Undisturbed run: ${steps} steps, loss ${event.loss.toFixed(5)}, state sha256 ${event.hash.slice(0, 16)}…`,
        );
        print(`Now the same under "outlast run", saving every ${saveEvery} steps and evicted four times:`);
        break;
      case "attempt":
        told = event.resumedAt;
        print(style("dim", `  attempt ${event.number} starts from step ${event.resumedAt}`));
        break;
      case "step":
        if (event.step - told < 50 && event.step !== steps) break;
        told = event.step;
        print(style("dim", `    step ${String(event.step).padStart(3)}  loss ${event.loss.toFixed(5)}`));
        break;
      case "evicted":
        print(
          style(
            "yellow",
            event.how === "notice"
              ? `  evicted at step ${event.atStep}: notice (SIGTERM), 15 s to leave`
              : `  evicted at step ${event.atStep}: the machine vanishes with its disk (SIGKILL, files deleted)`,
          ),
        );
        break;
      case "finished":
        print(`Evicted run:     ${steps} steps, state sha256 ${event.hash.slice(0, 16)}…`);
        break;
    }
  };
}

function printResult(result: StoryResult, { print, stdout, env }: CommandContext): void {
  const style = styleFor(stdout, env);
  const columns = ["EVICTION", "HOW", "AT STEP", "RESUMED AT", "STEPS REDONE", "TIME LOST"];
  print("");
  print(
    formatTable(
      columns.map((title, i) => ({ title, align: i < 2 ? "left" : "right" })),
      result.evictions.map((one, i) => [
        String(i + 1),
        one.kind === "notice" ? "SIGTERM" : "SIGKILL, disk lost",
        String(one.atStep),
        String(one.resumedAt),
        String(Math.max(0, one.redone)),
        formatDuration(one.lostMs),
      ]),
    ),
  );
  print("");
  if (faultOf(result)) return;
  print(style("green", "Same weights, optimizer and random state, bit for bit, as the run that was never disturbed."));
}

function asJson(result: StoryResult): DemoJson {
  return {
    schema: 1,
    equal: result.reference === result.survivor,
    undisturbed: result.reference,
    evicted: result.survivor,
    evictions: result.evictions.map((one) => ({
      how: one.kind === "notice" ? "SIGTERM" : "SIGKILL",
      atStep: one.atStep,
      resumedAt: one.resumedAt,
      stepsRedone: Math.max(0, one.redone),
      lostMs: Math.round(one.lostMs),
    })),
  };
}
