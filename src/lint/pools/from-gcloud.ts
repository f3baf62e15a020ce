import { expandWord, parseShell, rawText, type ShellCommand } from "../shell/parse-shell.ts";
import type { SourceFile } from "../source/source-file.ts";
import { emptyPool, type Pool, seconds, type Taint } from "./pool.ts";

/** What a script says about a cluster. */
export interface ScriptFacts {
  readonly pools: readonly Pool[];
  readonly hasAutoProvisioning: boolean;
  readonly isAutopilot: boolean;
}

const switches = new Set(
  (
    "spot preemptible flex-start enable-queued-provisioning enable-autoscaling enable-autorepair enable-autoupgrade " +
    "enable-autoprovisioning enable-image-streaming enable-private-nodes enable-gvnic enable-confidential-nodes quiet async " +
    "enable-ip-alias enable-shielded-nodes shielded-secure-boot shielded-integrity-monitoring enable-dataplane-v2 " +
    "enable-fast-socket enable-nested-virtualization enable-surge-upgrade enable-multi-networking local-ssd-encryption"
  ).split(" "),
);

/** Whether a script can declare pools at all: a cheap look before it is read. */
export function mentionsPools(text: string): boolean {
  return /\b(?:node-pools|clusters)\b[\s\\]+create/.test(text);
}

/** Pools of `gcloud container node-pools create` and `clusters create` in a script. */
export function readGcloudScript(file: SourceFile): ScriptFacts {
  const variables = new Map<string, string | undefined>();
  const pools: Pool[] = [];
  let hasAutoProvisioning = false;
  let isAutopilot = false;
  for (const command of parseShell(file.text)) {
    noteAssignments(command, variables);
    const words = command.words.map((word) => expandWord(word, variables) ?? flagOfUnknown(rawText(word)));
    const gcloud = words.indexOf("gcloud");
    const verb = words.findIndex(
      (word, i) => i > gcloud && (word === "create" || word === "create-auto" || word === "update"),
    );
    if (gcloud < 0 || verb < 0 || !words.includes("container")) continue;
    const noun = words.includes("node-pools") ? "node-pools" : words.includes("clusters") ? "clusters" : undefined;
    if (!noun) continue;
    const flags = readFlags(words.slice(verb + 1));
    if (noun === "clusters" && flags.has("enable-autoprovisioning")) hasAutoProvisioning = true;
    if (words[verb] === "create-auto") isAutopilot = true;
    if (words[verb] !== "create") continue;
    const name = noun === "clusters" ? "default-pool" : flags.get("");
    pools.push(poolOf(name ?? undefined, flags, { file, start: command.start, end: command.end }));
  }
  return { pools, hasAutoProvisioning, isAutopilot };
}

/** Stands for a value that only a shell knows; no flag can hold it. */
const unknown = "\0";

/** `--flag=$X` is that flag with a value that is not known. */
function flagOfUnknown(raw: string): string | undefined {
  const name = /^--[\w-]+=/.exec(raw)?.[0];
  return name === undefined ? undefined : `${name}${unknown}`;
}

function noteAssignments({ words }: ShellCommand, variables: Map<string, string | undefined>): void {
  for (const [i, word] of words.entries()) {
    const [head, ...rest] = word.parts;
    const found = head?.kind === "text" ? /^([A-Za-z_]\w*)=([^]*)$/.exec(head.text) : null;
    if (!found) {
      if (i === 0 && head?.kind === "text" && /^(?:export|readonly|local|declare)$/.test(head.text)) continue;
      return;
    }
    const name = found[1] ?? "";
    const value = expandWord({ ...word, parts: [{ kind: "text", text: found[2] ?? "" }, ...rest] }, variables);
    // A variable set twice to different things is known no more.
    variables.set(name, variables.has(name) && variables.get(name) !== value ? undefined : value);
  }
}

/** Flags by name; the first bare word under the empty name. A value that is not known is null. */
function readFlags(words: readonly (string | undefined)[]): Map<string, string | null> {
  const flags = new Map<string, string | null>();
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    const found = word === undefined ? null : /^--([\w-]+)(?:=([^]*))?$/.exec(word);
    if (!found) {
      if (!flags.has("")) flags.set("", word ?? null);
      continue;
    }
    const name = found[1] ?? "";
    if (found[2] !== undefined) flags.set(name, found[2] === unknown ? null : found[2]);
    else if (switches.has(name) || name.startsWith("no-") || words[i + 1]?.startsWith("--") || i + 1 >= words.length) {
      flags.set(name, "true");
    } else {
      flags.set(name, words[i + 1] ?? null);
      i += 1;
    }
  }
  return flags;
}

function poolOf(name: string | undefined, flags: ReadonlyMap<string, string | null>, span: Pool["span"]): Pool {
  const has = (flag: string): boolean => flags.has(flag) && flags.get(flag) !== "false";
  const labels = pairs(flags.get("node-labels"));
  const taints = taintsOf(flags.get("node-taints"));
  const accelerator = pairs(flags.get("accelerator"));
  const type = accelerator?.["type"];
  const count = accelerator?.["count"];
  const capacity =
    has("spot") || has("preemptible")
      ? "spot"
      : has("flex-start") || has("enable-queued-provisioning")
        ? "flexStart"
        : "onDemand";
  const reservation = flags.get("reservation-affinity");
  return {
    ...emptyPool("gcloud", span),
    name,
    capacity,
    isPreemptible: has("preemptible"),
    isQueued: has("enable-queued-provisioning"),
    labels: labels ?? {},
    taints: taints ?? [],
    hasAllLabels: labels !== undefined && taints !== undefined,
    machineType: flags.get("machine-type") ?? undefined,
    accelerator: type ? { type, count: count === undefined ? 1 : numberOf(count) } : undefined,
    tpuTopology: flags.get("tpu-topology") ?? undefined,
    staticNodes: numberOf(flags.get("num-nodes")),
    minNodes: numberOf(flags.get("total-min-nodes") ?? flags.get("min-nodes")),
    // `--max-nodes` counts per zone; only a zonal cluster makes it a total.
    maxNodes: numberOf(flags.get("total-max-nodes") ?? (flags.has("zone") ? flags.get("max-nodes") : undefined)),
    hasAutoscaling: has("enable-autoscaling"),
    hasAutoRepair: has("no-enable-autorepair") ? false : has("enable-autorepair") ? true : undefined,
    usesReservation: reservation ? reservation !== "none" : undefined,
    maxRunSeconds: seconds(flags.get("max-run-duration") ?? undefined),
    shutdownGrace: has("system-config-from-file") ? "unknown" : undefined,
  };
}

function numberOf(text: string | null | undefined): number | undefined {
  return text && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** `a=b,c=d`; undefined when it stands there and cannot be read. */
function pairs(text: string | null | undefined): Record<string, string> | undefined {
  if (text === undefined) return {};
  if (text === null) return undefined;
  const record: Record<string, string> = {};
  for (const pair of text.split(",")) {
    const [key, ...value] = pair.split("=");
    if (key?.trim()) record[key.trim()] = value.join("=");
  }
  return record;
}

function taintsOf(text: string | null | undefined): Taint[] | undefined {
  if (text === undefined) return [];
  if (text === null) return undefined;
  return text.split(",").flatMap((one) => {
    const found = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(one.trim());
    return found ? [{ key: found[1] ?? "", value: found[2] ?? "", effect: found[3] ?? "" }] : [];
  });
}
