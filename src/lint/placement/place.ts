import { dirname } from "node:path";
import { keys, spotWindow } from "../facts/keys.ts";
import { builtInClasses, type ComputeClass } from "../pools/compute-class.ts";
import { type Capacity, capacities, type Pool } from "../pools/pool.ts";
import type { Supply } from "../pools/supply.ts";
import type { Span } from "../source/source-file.ts";
import { type Constraints, constraintsOf, type Requirement } from "./constraints.ts";
import { allowedBy, impliedBy } from "./implied.ts";
import { matchPool, type PoolMatch } from "./match-pool.ts";
import type { PodTemplate } from "./pod-template.ts";

/** Whether a pod lands on a kind of capacity. */
export type Verdict = "must" | "may" | "never" | "unknown";

/** A verdict with its reason and, where there is one, the place that gives it. */
export interface Reach {
  readonly verdict: Verdict;
  readonly why: string;
  readonly at: Span | undefined;
}

/** Where a pod template's pods can land: the one thing that rules about capacity read. */
export interface Placement {
  readonly constraints: Constraints;
  readonly reach: Readonly<Record<Capacity, Reach>>;
  /** Every pool that concerns this template, and whether it fits. */
  readonly matches: readonly PoolMatch[];
  /** Pools it can land on. */
  readonly candidates: readonly Pool[];
  readonly className: string | undefined;
  readonly computeClass: ComputeClass | undefined;
  /** Seconds that a Spot node leaves ordinary pods; undefined when a pool's setting is not known. */
  readonly window: number | undefined;
  /** Spot and flex-start taken together: can its node be taken away while it runs? */
  readonly interruptible: Verdict;
}

/** Joins one pod template with all that is known about pools. */
export function place(template: PodTemplate, supply: Supply): Placement {
  const constraints = constraintsOf(template);
  const pools = concerning(template, constraints, supply);
  const matches = pools.map((pool) => matchPool(pool, constraints, template, supply));
  const fitting = matches.filter(({ fit }) => fit !== "no");
  const className = valuesFor(constraints, keys.computeClass)[0];
  const computeClass = className === undefined ? undefined : supply.classes.get(className);
  const reach = reachOf({ constraints, matches, fitting, className, computeClass, supply });
  const candidates = fitting.map(({ pool }) => pool);
  return {
    constraints,
    reach,
    matches,
    candidates,
    className,
    computeClass,
    window: windowOf(candidates, computeClass),
    interruptible: interruptibleOf(reach),
  };
}

/** Values that every alternative demands of a label. */
export function valuesFor({ alternatives }: Constraints, key: string): readonly string[] {
  const found = alternatives.map((requirements) =>
    requirements.find((one) => one.key === key && one.operator === "In"),
  );
  return found.every((one) => one !== undefined) ? [...new Set(found.flatMap((one) => one?.values ?? []))] : [];
}

/** The first demand on a label, wherever it stands. */
export function requirementOn({ alternatives }: Constraints, key: string): Requirement | undefined {
  return alternatives.flat().find((one) => one.key === key);
}

/**
 * Pools found by chance in a tree of many projects say nothing about the pods of another project: where pools come from several
 * folders, only those of the pod's own branch count, and those it names.
 */
function concerning(template: PodTemplate, constraints: Constraints, supply: Supply): readonly Pool[] {
  if (supply.isComplete) return supply.pools;
  const folders = new Set(supply.pools.map(({ span }) => dirname(span.file.path)));
  if (folders.size <= 1) return supply.pools;
  const own = dirname(template.node.file.path);
  const named = valuesFor(constraints, keys.nodePool);
  return supply.pools.filter(({ span, name }) => {
    const folder = dirname(span.file.path);
    const isBelow = isWithin(folder, own) && !folder.slice(own.length + 1).includes("/");
    return (name !== undefined && named.includes(name)) || isWithin(own, folder) || isBelow;
  });
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || (outer !== "." && inner.startsWith(`${outer}/`));
}

interface Known {
  readonly constraints: Constraints;
  readonly matches: readonly PoolMatch[];
  readonly fitting: readonly PoolMatch[];
  readonly className: string | undefined;
  readonly computeClass: ComputeClass | undefined;
  readonly supply: Supply;
}

function reachOf(known: Known): Record<Capacity, Reach> {
  const { constraints, className, computeClass } = known;
  const implied = impliedBy(constraints);
  if (implied) {
    const [only] = implied.set;
    return each((capacity) => {
      if (!implied.set.has(capacity)) return { verdict: "never", why: implied.why, at: implied.at };
      if (implied.set.size === 1 && capacity === only) return { verdict: "must", why: implied.why, at: implied.at };
      return byPools(capacity, known, implied.set);
    });
  }
  if (computeClass) return byClass(computeClass, known);
  if (className !== undefined && !builtInClasses.includes(className)) {
    return each(() => ({
      verdict: "unknown",
      why: `the ComputeClass "${className}" is not among the files`,
      at: undefined,
    }));
  }
  const named = valuesFor(constraints, keys.nodePool);
  if (named.length > 0) return byName(named, known);
  return each((capacity) => byPools(capacity, known, new Set(capacities)));
}

function each(verdict: (capacity: Capacity) => Reach): Record<Capacity, Reach> {
  return { spot: verdict("spot"), flexStart: verdict("flexStart"), onDemand: verdict("onDemand") };
}

function byClass(computeClass: ComputeClass, { supply }: Known): Record<Capacity, Reach> {
  const open = new Map<Capacity, Span>();
  let isUnsure = computeClass.rules.length === 0;
  for (const rule of computeClass.rules) {
    if (rule.capacity) open.set(rule.capacity, open.get(rule.capacity) ?? rule.node);
    for (const name of rule.pools) {
      const pool = supply.pools.find((one) => one.name === name);
      if (pool?.capacity) open.set(pool.capacity, open.get(pool.capacity) ?? rule.node);
      else isUnsure = true;
    }
  }
  const anywhere = computeClass.whenUnsatisfiable === "ScaleUpAnyway";
  const why = `the ComputeClass "${computeClass.name}" lists it`;
  return each((capacity) => {
    const at = open.get(capacity);
    if (at) return { verdict: open.size === 1 && !isUnsure && !anywhere ? "must" : "may", why, at };
    if (isUnsure)
      return {
        verdict: "unknown",
        why: `the ComputeClass "${computeClass.name}" names pools that are not among the files`,
        at: undefined,
      };
    if (capacity === "onDemand" && anywhere)
      return {
        verdict: "may",
        why: `the ComputeClass "${computeClass.name}" scales up anyway`,
        at: computeClass.object.node,
      };
    return {
      verdict: "never",
      why: `the ComputeClass "${computeClass.name}" does not list it`,
      at: computeClass.object.node,
    };
  });
}

function byName(named: readonly string[], { matches }: Known): Record<Capacity, Reach> {
  const found = named.map((name) => matches.find(({ pool }) => pool.name === name)?.pool);
  const isSure = found.every((pool) => pool?.capacity !== undefined);
  const kinds = new Set(found.flatMap((pool) => pool?.capacity ?? []));
  return each((capacity) => {
    const pool = found.find((one) => one?.capacity === capacity);
    if (pool)
      return {
        verdict: isSure && kinds.size === 1 ? "must" : "may",
        why: `it selects the pool "${pool.name}"`,
        at: pool.span,
      };
    return isSure
      ? { verdict: "never", why: `it selects the pool "${named.join('", "')}"`, at: undefined }
      : { verdict: "unknown", why: `the pool "${named.join('", "')}" is not among the files`, at: undefined };
  });
}

function byPools(capacity: Capacity, { constraints, fitting, supply }: Known, allowed: ReadonlySet<Capacity>): Reach {
  const ofKind = fitting.filter(({ pool }) => pool.capacity === capacity);
  const sure = ofKind.find(({ fit }) => fit === "yes");
  const maybe = ofKind[0];
  const others = fitting.some(
    ({ pool }) => pool.capacity !== capacity && (!pool.capacity || allowed.has(pool.capacity)),
  );
  const isClosed = supply.isComplete && !supply.hasAutoProvisioning && !supply.isAutopilot;
  if (isClosed && fitting.length > 0) {
    if (!maybe) return { verdict: "never", why: "no pool of that kind fits", at: undefined };
    const match = sure ?? maybe;
    return {
      verdict: sure && !others ? "must" : "may",
      why: `the pool "${match.pool.name ?? "?"}" fits`,
      at: match.pool.span,
    };
  }
  if (sure) return { verdict: "may", why: `the pool "${sure.pool.name ?? "?"}" fits`, at: sure.pool.span };
  const key = capacity === "spot" ? keys.spot : capacity === "flexStart" ? keys.flexStart : undefined;
  const tolerated = constraints.tolerations.find((one) => key !== undefined && one.key === key);
  if (tolerated && capacity === "spot" && !isClosed)
    return { verdict: "may", why: `it tolerates ${keys.spot}`, at: tolerated.node };
  const liked = constraints.preferred.find((one) => allowedBy(one)?.has(capacity) && allowedBy(one)?.size === 1);
  if (liked && !isClosed) return { verdict: "may", why: `it prefers ${liked.key}`, at: liked.span };
  if (supply.isAutopilot) {
    const isDefault = capacity === "onDemand";
    const isOnly =
      isDefault && !constraints.tolerations.some((one) => one.key === keys.spot) && constraints.preferred.length === 0;
    return {
      verdict: isDefault ? (isOnly ? "must" : "may") : "never",
      why: "Autopilot gives Spot and flex-start only to pods that select it",
      at: undefined,
    };
  }
  return { verdict: "unknown", why: "no pool that is among the files decides it", at: undefined };
}

function windowOf(candidates: readonly Pool[], computeClass: ComputeClass | undefined): number | undefined {
  const windows: number[] = [];
  for (const { capacity, shutdownGrace } of candidates) {
    if (capacity !== "spot") continue;
    if (shutdownGrace === "unknown") return undefined;
    windows.push(shutdownGrace ? Math.max(0, shutdownGrace.total - shutdownGrace.critical) : spotWindow);
  }
  for (const { capacity, shutdownGrace } of computeClass?.rules ?? []) {
    if (capacity === "spot")
      windows.push(shutdownGrace ? Math.max(0, shutdownGrace.total - shutdownGrace.critical) : spotWindow);
  }
  return windows.length > 0 ? Math.min(...windows) : spotWindow;
}

function interruptibleOf({ spot, flexStart, onDemand }: Record<Capacity, Reach>): Verdict {
  const taken = [spot.verdict, flexStart.verdict];
  if (taken.includes("must")) return "must";
  const some = taken.includes("may");
  if (some && onDemand.verdict === "never" && !taken.includes("unknown")) return "must";
  if (some) return "may";
  return taken.includes("unknown") ? "unknown" : "never";
}
