import type { EnvValue, Workload } from "../../spec/workload/index.ts";
import { type Described, why } from "../why.ts";

/** The container's variables: the trainer's own names, addresses from Secrets, then what the user wrote. */
export function environmentOf({ checkpoint, queue, results, env }: Workload): readonly Described[] {
  const found: Described[] = [];
  const { dir, interval } = checkpoint?.variables ?? {};
  if (dir !== undefined)
    found.push(why("the trainer's own name for its checkpoint directory", { name: dir, value: checkpoint?.dir ?? "" }));
  if (interval !== undefined && checkpoint?.interval !== undefined) {
    found.push(why("the trainer's own name and unit", { name: interval, value: checkpoint.interval }));
  }
  for (const [name, value] of [
    ["OUTLAST_QUEUE", queue],
    ["OUTLAST_RESULTS", results],
  ] as const) {
    if (typeof value === "object")
      found.push(why("from a Secret: an address with a password stands in no manifest", variable(name, value)));
  }
  const taken = new Set([dir, interval]);
  for (const [name, value] of Object.entries(env)) if (!taken.has(name)) found.push(variable(name, value));
  return found;
}

function variable(name: string, value: EnvValue): { readonly [key: string]: Described } {
  if (typeof value === "string") return { name, value };
  if ("secret" in value) return { name, valueFrom: { secretKeyRef: { name: value.secret, key: value.key } } };
  return { name, valueFrom: { configMapKeyRef: { name: value.configMap, key: value.key } } };
}
