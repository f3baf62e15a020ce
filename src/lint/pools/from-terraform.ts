import { asBoolean, asNumber, asRecord, asText } from "../hcl/convert.ts";
import { childOf, evaluate, type HclValue, type Scope } from "../hcl/evaluate-hcl.ts";
import { parseHcl } from "../hcl/parse-hcl.ts";
import type { Attribute, Block, Body } from "../hcl/syntax.ts";
import type { SourceFile } from "../source/source-file.ts";
import { emptyPool, kubeEffect, type Pool, seconds, type Taint } from "./pool.ts";
import type { ScriptFacts } from "./from-gcloud.ts";

/** Whether Terraform text can declare pools or values of their variables. */
export function mentionsTerraformPools(text: string): boolean {
  return /google_container_(?:node_pool|cluster)|node_pools|\bvariable\b|\blocals\b/.test(text);
}

/** Pools of one Terraform module: all `.tf` files of a folder and its `.tfvars`. */
export function readTerraform(files: readonly SourceFile[]): ScriptFacts {
  const parsed = files.map((file) => ({ file, body: parseHcl(file.text) }));
  const scope = scopeOf(parsed);
  const pools: Pool[] = [];
  let hasAutoProvisioning = false;
  let isAutopilot = false;
  for (const { file, body } of parsed) {
    if (/\.tfvars(\.json)?$/.test(file.path)) continue;
    for (const block of body.blocks) {
      const [type] = block.labels;
      if (block.type === "resource" && type === "google_container_node_pool")
        pools.push(...resourcePools(block, scope, file));
      if (block.type === "resource" && type === "google_container_cluster") {
        const scaling = block.body.blocks.find((one) => one.type === "cluster_autoscaling");
        if (scaling && valueOf(scaling.body, "enabled", scope) === true) hasAutoProvisioning = true;
        if (valueOf(block.body, "enable_autopilot", scope) === true) isAutopilot = true;
        for (const inner of block.body.blocks)
          if (inner.type === "node_pool") pools.push(poolOf(inner, inner.body, scope, file));
      }
      if (block.type === "module") pools.push(...modulePools(block, scope, file));
    }
  }
  return { pools, hasAutoProvisioning, isAutopilot };
}

function scopeOf(parsed: readonly { readonly file: SourceFile; readonly body: Body }[]): Scope {
  const variables = new Map<string, Attribute>();
  const locals = new Map<string, Attribute>();
  for (const { file, body } of parsed) {
    const isValues = file.path.endsWith(".tfvars");
    for (const block of body.blocks) {
      if (block.type === "locals") for (const one of block.body.attributes) locals.set(one.name, one);
      const standard = block.body.attributes.find((one) => one.name === "default");
      const [name] = block.labels;
      if (block.type === "variable" && name && standard && !variables.has(name)) variables.set(name, standard);
    }
    if (isValues) for (const one of body.attributes) variables.set(one.name, one);
  }
  const scope = new Map<string, HclValue | ((name: string) => HclValue)>();
  const busy = new Set<Attribute>();
  const read = (from: Map<string, Attribute>) => (name: string) => {
    const attribute = from.get(name);
    if (!attribute || busy.has(attribute)) return undefined;
    busy.add(attribute);
    const value = evaluate(attribute.value, scope);
    busy.delete(attribute);
    return value;
  };
  scope.set("var", read(variables));
  scope.set("local", read(locals));
  return scope;
}

function resourcePools(block: Block, scope: Scope, file: SourceFile): Pool[] {
  const count = valueOf(block.body, "count", scope);
  if (count === 0) return [];
  const each = block.body.attributes.find((one) => one.name === "for_each");
  if (!each) return [poolOf(block, block.body, scope, file)];
  const over = evaluate(each.value, scope);
  if (typeof over !== "object" || over === null)
    return [{ ...poolOf(block, block.body, scope, file), hasAllLabels: false }];
  const entries: [string, HclValue][] = Array.isArray(over)
    ? over.map((one) => [String(one), one])
    : Object.entries(over);
  return entries
    .slice(0, 200)
    .map(([key, value]) => poolOf(block, block.body, new Map(scope).set("each", { key, value }), file));
}

function poolOf(block: Block, body: Body, scope: Scope, file: SourceFile): Pool {
  const config = blocksOf(body, "node_config", scope)[0];
  const node = config?.body ?? { attributes: [], blocks: [] };
  const inner = config?.scope ?? scope;
  const flag = (name: string): boolean | undefined => {
    const attribute = node.attributes.find((one) => one.name === name);
    if (!attribute) return false;
    const value = evaluate(attribute.value, inner);
    return value === null ? false : asBoolean(value);
  };
  const isSpot = flag("spot");
  const isPreemptible = flag("preemptible");
  const isFlex = flag("flex_start");
  const queued = blocksOf(body, "queued_provisioning", scope)[0];
  const isQueued = queued ? valueOf(queued.body, "enabled", queued.scope) === true : false;
  const labels = mapOf(node, "labels", inner);
  const taints = blocksOf(node, "taint", inner);
  const scaling = blocksOf(body, "autoscaling", scope)[0];
  const scale = (name: string) => (scaling ? asNumber(valueOf(scaling.body, name, scaling.scope)) : undefined);
  const management = blocksOf(body, "management", scope)[0];
  const guest = blocksOf(node, "guest_accelerator", inner)[0];
  const kubelet = blocksOf(node, "kubelet_config", inner)[0];
  const reservation = blocksOf(node, "reservation_affinity", inner)[0];
  const placement = blocksOf(body, "placement_policy", scope)[0];
  const read = taints.map(({ body: one, scope: own }) => taintOf((name) => valueOf(one, name, own)));
  const type = guest ? asText(valueOf(guest.body, "type", guest.scope)) : undefined;
  const count = guest ? asNumber(valueOf(guest.body, "count", guest.scope)) : undefined;
  const reserve = reservation
    ? asText(valueOf(reservation.body, "consume_reservation_type", reservation.scope))
    : undefined;
  const topology = placement ? asText(valueOf(placement.body, "tpu_topology", placement.scope)) : undefined;
  const repair = management ? valueOf(management.body, "auto_repair", management.scope) : undefined;
  const window = kubelet ? asNumber(valueOf(kubelet.body, "shutdown_grace_period_seconds", kubelet.scope)) : undefined;
  const critical = kubelet
    ? asNumber(valueOf(kubelet.body, "shutdown_grace_period_critical_pods_seconds", kubelet.scope))
    : undefined;
  const isDynamic =
    node.blocks.some((one) => one.type === "dynamic" && one.labels[0] === "taint") &&
    taints.some((one) => one.isUnknown);
  return {
    ...emptyPool("terraform", { file, start: block.start, end: block.end }),
    name: asText(valueOf(body, "name", scope)),
    capacity:
      isSpot === true || isPreemptible === true
        ? "spot"
        : isFlex === true || isQueued
          ? "flexStart"
          : isSpot === undefined || isPreemptible === undefined || isFlex === undefined
            ? undefined
            : "onDemand",
    isPreemptible: isPreemptible === true,
    isQueued,
    labels: labels ?? {},
    taints: read.flatMap((one) => one ?? []),
    hasAllLabels: labels !== undefined && !isDynamic && read.every((one) => one !== undefined),
    machineType: asText(valueOf(node, "machine_type", inner)),
    accelerator: type ? { type, count } : undefined,
    tpuTopology: topology,
    staticNodes: asNumber(valueOf(body, "node_count", scope)),
    minNodes: scale("total_min_node_count") ?? scale("min_node_count"),
    maxNodes: scale("total_max_node_count"),
    hasAutoscaling: scaling !== undefined,
    hasAutoRepair: typeof repair === "boolean" ? repair : undefined,
    usesReservation: reserve ? reserve !== "NO_RESERVATION" : undefined,
    maxRunSeconds: seconds(asText(valueOf(node, "max_run_duration", inner))),
    shutdownGrace: window === undefined ? undefined : { total: window, critical: critical ?? 15 },
  };
}

/** Blocks of a type, those made by `dynamic` among them. */
function blocksOf(body: Body, type: string, scope: Scope): { body: Body; scope: Scope; isUnknown: boolean }[] {
  const found: { body: Body; scope: Scope; isUnknown: boolean }[] = [];
  for (const block of body.blocks) {
    if (block.type === type) found.push({ body: block.body, scope, isUnknown: false });
    if (block.type !== "dynamic" || block.labels[0] !== type) continue;
    const content = block.body.blocks.find((one) => one.type === "content");
    if (!content) continue;
    const over = valueOf(block.body, "for_each", scope);
    const iterator = asText(valueOf(block.body, "iterator", scope)) ?? type;
    if (typeof over !== "object" || over === null) found.push({ body: content.body, scope, isUnknown: true });
    else {
      const entries: [string, HclValue][] = Array.isArray(over)
        ? over.map((one, i) => [String(i), one])
        : Object.entries(over);
      for (const [key, value] of entries.slice(0, 50)) {
        found.push({ body: content.body, scope: new Map(scope).set(iterator, { key, value }), isUnknown: false });
      }
    }
  }
  return found;
}

/** The registry module's lists and maps: `node_pools`, `node_pools_taints`, `node_pools_labels`. */
function modulePools(block: Block, scope: Scope, file: SourceFile): Pool[] {
  const list = valueOf(block.body, "node_pools", scope);
  if (!Array.isArray(list)) return [];
  const own = (of: string, name: string): HclValue => childOf(valueOf(block.body, of, scope), name);
  const attribute = block.body.attributes.find((one) => one.name === "node_pools");
  const start = attribute?.start ?? block.start;
  return (list as readonly HclValue[]).slice(0, 200).map((one) => {
    const at = (name: string): HclValue => childOf(one, name);
    const name = asText(at("name"));
    const labels = { ...asRecord(own("node_pools_labels", "all")), ...asRecord(own("node_pools_labels", name ?? "")) };
    const taints = [own("node_pools_taints", "all"), own("node_pools_taints", name ?? "")].flatMap((some) =>
      Array.isArray(some) ? (some as readonly HclValue[]) : [],
    );
    const read = taints.map((taint) => taintOf((field) => childOf(taint, field)));
    const isSpot = asBoolean(at("spot")) === true || asBoolean(at("preemptible")) === true;
    const isFlex = asBoolean(at("flex_start")) === true || asBoolean(at("queued_provisioning")) === true;
    const type = asText(at("accelerator_type"));
    return {
      ...emptyPool("terraform", { file, start, end: attribute?.end ?? block.end }),
      name,
      capacity: isSpot ? "spot" : isFlex ? "flexStart" : "onDemand",
      isPreemptible: asBoolean(at("preemptible")) === true,
      isQueued: asBoolean(at("queued_provisioning")) === true,
      labels,
      taints: read.flatMap((taint) => taint ?? []),
      hasAllLabels: read.every((taint) => taint !== undefined) && typeof one === "object",
      machineType: asText(at("machine_type")),
      accelerator: type ? { type, count: asNumber(at("accelerator_count")) } : undefined,
      minNodes: asNumber(at("total_min_count")) ?? asNumber(at("min_count")),
      maxNodes: asNumber(at("total_max_count")),
      hasAutoscaling: asBoolean(at("autoscaling")) ?? true,
      hasAutoRepair: asBoolean(at("auto_repair")),
    } satisfies Pool;
  });
}

function taintOf(read: (name: string) => HclValue): Taint | undefined {
  const key = asText(read("key"));
  const effect = asText(read("effect"));
  const value = asText(read("value"));
  return key === undefined || effect === undefined
    ? undefined
    : { key, value: value ?? "", effect: kubeEffect(effect) };
}

function valueOf(body: Body, name: string, scope: Scope): HclValue {
  const attribute = body.attributes.find((one) => one.name === name);
  return attribute ? evaluate(attribute.value, scope) : undefined;
}

/** A map of strings; empty when it is not there, undefined when it cannot be read. */
function mapOf(body: Body, name: string, scope: Scope): Record<string, string> | undefined {
  const attribute = body.attributes.find((one) => one.name === name);
  if (!attribute) return {};
  const value = evaluate(attribute.value, scope);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  const record = asRecord(value);
  return Object.keys(record).length === Object.keys(value).length ? record : undefined;
}
