import { keys } from "../facts/keys.ts";
import { acceleratorMachines, tpuChipsPerHost } from "../facts/machines.ts";
import { nearest } from "../facts/near.ts";
import { fixOf } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const acceleratorUnknown: Rule = {
  id: "accelerator-unknown",
  title: "The accelerator's name is not one that GKE uses",
  severity: "error",
  why: "Nodes carry exact names (nvidia-l4, nvidia-h100-80gb, tpu-v6e-slice). Any other name matches no node, and the pod stays Pending.",
  fix: "Use the exact name.",
  sources: ["GKE cluster autoscaler: machine tables", "GKE: GPU and TPU names"],
  *template({ placement }, { supply }) {
    const known: Record<string, readonly string[]> = {
      [keys.accelerator]: [...Object.keys(acceleratorMachines), "nvidia-tesla-k80"],
      [keys.tpuAccelerator]: [
        ...Object.keys(tpuChipsPerHost),
        "tpu-v4-lite-device",
        "tpu-v5p-device",
        "tpu-v6e-device",
      ],
    };
    const declared = new Set(supply.pools.flatMap(({ accelerator }) => accelerator?.type ?? []));
    for (const { key, operator, values, span } of placement.constraints.alternatives.flat()) {
      const names = known[key];
      if (!names || operator !== "In") continue;
      for (const value of values) {
        // The GPU may be newer than this list: only a likely slip is told.
        const near =
          names.includes(value) || declared.has(value) ? undefined : (alias(value, names) ?? nearest(value, names, 2));
        if (!near) continue;
        const at = span.file.text.indexOf(
          value,
          span.start + (span.file.text.slice(span.start, span.end).indexOf(":") + 1),
        );
        const exact = at >= 0 && at < span.end ? { file: span.file, start: at, end: at + value.length } : undefined;
        yield {
          at: exact ?? span,
          message: `no node has the accelerator "${value}"; did you mean "${near}"? As written the pod stays Pending`,
          fix: exact ? fixOf("safe", `write ${near}`, { ...exact, text: near }) : undefined,
        };
      }
    }
  },
};

/** `l4`, `tesla-t4`, `nvidia-t4`, `nvidia-a100`: names from other places. */
function alias(value: string, names: readonly string[]): string | undefined {
  const plain = (name: string): string =>
    name
      .toLowerCase()
      .replace(/^nvidia-/, "")
      .replace(/^tesla-/, "")
      .replace(/-\d+gb$/, "");
  const found = names.filter((name) => plain(name) === plain(value));
  return found.length === 1 ? found[0] : undefined;
}
