import type { Rule } from "../rule.ts";
import { checkpointPlaces } from "./shared/checkpoint-places.ts";

export const ckptRwoManyWriters: Rule = {
  id: "ckpt-rwo-many-writers",
  title: "Several pods share a volume that one node can attach",
  severity: "warning",
  why: "A ReadWriteOnce disk attaches to one node. Of several pods, those on other nodes wait in ContainerCreating for ever; and a zonal disk keeps a replacement from landing in a zone that has capacity.",
  fix: "Use a ReadWriteMany volume (Filestore), Cloud Storage, or one claim per pod.",
  sources: ["Kubernetes: persistent volumes, access modes", "GKE: storage overview"],
  *template({ template }, context) {
    const pods = template.jobSpec?.get("parallelism")?.number ?? 1;
    if (pods < 2) return;
    for (const { path, span, place } of checkpointPlaces(template, context).places) {
      const modes = place.claim?.get("spec", "accessModes")?.strings ?? [];
      if (place.kind !== "pvc" || modes.length === 0 || !modes.every((mode) => mode.startsWith("ReadWriteOnce")))
        continue;
      yield {
        at: span,
        message: `${pods} pods write to ${path}, whose claim is ${modes.join(", ")}: those on a second node never start`,
        related: place.claim ? { span: place.claim, message: "the claim" } : undefined,
      };
    }
  },
};
