import { stat, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { exitCodes, OutlastError, systemCode } from "../../core/index.ts";
import type { InitAnswers } from "../../manifests/index.ts";
import { defaultFile, type Values } from "../../spec/index.ts";
import type { Command, CommandArgs, CommandContext } from "../command.ts";

/** `outlast init` */
export const init: Command = {
  name: "init",
  summary: "write a commented outlast.yaml",
  description:
    "Writes outlast.yaml for one workload, from flags or, at a terminal, from the answers to a few questions. What it writes is checked before it is written; `outlast manifest` takes it from there.",
  examples: [
    { text: "Ask me", command: "outlast init" },
    {
      text: "A training run on Spot",
      command:
        "outlast init --image trainer:1 --accelerator L4:1 --store gs://BUCKET/runs --dir /ckpt -- python train.py",
    },
    {
      text: "Batch inference on Pub/Sub",
      command:
        "outlast init --kind batch --image infer:1 --queue 'pubsub://PROJECT/SUB?topic=TOPIC' -- python infer.py",
    },
  ],
  flags: [
    ...(["kind", "name", "image", "accelerator", "capacity", "pods", "store", "dir", "queue", "results"] as const),
    ...(["cluster", "location", "project", "out", "yes"] as const),
  ],
  required: [],
  positional: "CMD…",
  isPositionalOptional: true,
  handler: async (args, context) => {
    const out = args.values.out ?? defaultFile;
    const path = resolve(context.cwd, out);
    // Before anybody answers questions for nothing.
    if (!args.values.yes && (await exists(path))) throw isThere(out);
    const answers = await answersOf(given(args), args.tail, context);
    const { writeSpec } = await import("../../manifests/index.ts");
    const { parseWorkloads } = await import("../../spec/workload/index.ts");
    const text = writeSpec(answers);
    const { warnings } = parseWorkloads(text, out);
    for (const { line, message, hint } of warnings) context.logger.warn(message, { file: out, line, hint });
    await save(path, text, out, args.values.yes ?? false);
    context.print(`wrote ${out}\nnext: outlast manifest ${out === defaultFile ? "" : `${out} `}| less`);
    return exitCodes.finished;
  },
};

/** What was said in this call: an outlast.yaml that is there already must not speak for its successor. */
function given({ values, origins }: CommandArgs): Values {
  const flags = new Set<string>(origins.filter(({ from }) => from === "flag").map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => flags.has(name)));
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function save(path: string, text: string, shown: string, replace: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: replace ? "w" : "wx" });
  } catch (cause) {
    if (systemCode(cause) === "EEXIST") throw isThere(shown);
    throw new OutlastError("OUTLAST_FILE_FAILED", `cannot write ${shown}`, {
      hint: "check the path and its permissions",
      cause,
      target: shown,
    });
  }
}

function isThere(shown: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${shown} is there already`, {
    hint: "write to another file with --out, or replace it with --yes",
    target: shown,
  });
}

async function answersOf(values: Values, tail: readonly string[], context: CommandContext): Promise<InitAnswers> {
  const kind = values.kind ?? (values.queue === undefined ? await askKind(context) : "batch");
  const name = values.name ?? (await ask(context, "name", nameOf(context.cwd)));
  const image = values.image ?? (await ask(context, "image of your program", undefined));
  if (image === undefined) {
    throw new OutlastError("OUTLAST_USAGE", "missing --image IMAGE", {
      hint: "name the image your program is in; at a terminal `outlast init` asks for it",
    });
  }
  const words =
    tail.length > 0 || kind === "serve"
      ? tail
      : splitWords(await ask(context, "its command", kind === "train" ? "python train.py" : "python infer.py"));
  const accelerator = values.accelerator
    ? `${values.accelerator.type}:${values.accelerator.count}`
    : await ask(context, "accelerators of one pod, such as L4:1 (empty: none)", "");
  return {
    kind,
    name,
    image,
    command: words,
    accelerator: accelerator === "" ? undefined : accelerator,
    capacity: values.capacity,
    store:
      values.store ??
      (kind === "train" ? await ask(context, "where checkpoints are kept", "gs://BUCKET/runs") : undefined),
    dir: values.dir,
    queue: values.queue,
    results: values.results,
    pods: values.pods ?? 1,
    ...clusterOf(values),
  };
}

function clusterOf({ cluster, location, project }: Values): Pick<InitAnswers, "cluster" | "location" | "project"> {
  return { cluster, location, project };
}

async function askKind(context: CommandContext): Promise<InitAnswers["kind"]> {
  const said = (await ask(context, "kind of work: train, batch or serve", "train")).toLowerCase();
  if (said === "train" || said === "batch" || said === "serve") return said;
  throw new OutlastError("OUTLAST_USAGE", `"${said}" is no kind of work`, { hint: "train, batch or serve" });
}

async function ask(context: CommandContext, question: string, otherwise: string): Promise<string>;
async function ask(context: CommandContext, question: string, otherwise: undefined): Promise<string | undefined>;
async function ask(
  { ask: atTerminal }: CommandContext,
  question: string,
  otherwise: string | undefined,
): Promise<string | undefined> {
  if (!atTerminal) return otherwise;
  const said = (await atTerminal(`${question}${otherwise ? ` [${otherwise}]` : ""}: `)).trim();
  return said === "" ? otherwise : said;
}

/** The directory's name as a name for Kubernetes objects. */
function nameOf(cwd: string): string {
  const name = basename(cwd)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 52)
    .replace(/-+$/, "");
  return name === "" ? "workload" : name;
}

/** A typed command line as words; quotes hold words together. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}
