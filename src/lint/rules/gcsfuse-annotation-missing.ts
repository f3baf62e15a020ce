import { keys } from "../facts/keys.ts";
import { addEntry, fixOf } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";
import { claimOf, gcsFuseDriver } from "./shared/volumes.ts";

export const gcsfuseAnnotationMissing: Rule = {
  id: "gcsfuse-annotation-missing",
  title: "A Cloud Storage FUSE volume without the annotation that brings its sidecar",
  severity: "error",
  why: 'GKE adds the sidecar that mounts the bucket only to pods annotated gke-gcsfuse/volumes: "true". Without it the volume does not mount and the pod stays in ContainerCreating.',
  fix: 'Annotate the pod template (not the Job) with gke-gcsfuse/volumes: "true".',
  sources: ["Cloud Storage FUSE CSI driver for GKE: enable on pods"],
  *template({ template }, context) {
    if (template.metadata?.get("annotations", keys.gcsFuse)?.isTrue) return;
    for (const volume of template.spec.get("volumes")?.items ?? []) {
      const claim = claimOf(volume, template, context);
      const name = claim?.get("spec", "volumeName")?.text;
      const bound = name ? context.ofKind("PersistentVolume").find((one) => one.name === name) : undefined;
      const isFuse =
        volume.get("csi", "driver")?.text === gcsFuseDriver ||
        bound?.node.get("spec", "csi", "driver")?.text === gcsFuseDriver;
      if (!isFuse) continue;
      const annotations = template.metadata?.get("annotations");
      const edit = annotations
        ? addEntry(annotations, keys.gcsFuse, '"true"')
        : template.metadata
          ? addEntry(template.metadata, "annotations", `\n${keys.gcsFuse}: "true"`)
          : addEntry(template.node, "metadata", `annotations:\n  ${keys.gcsFuse}: "true"`);
      yield {
        at: volume,
        message: `the volume "${volume.get("name")?.text ?? ""}" is Cloud Storage FUSE, but the pod has no annotation ${keys.gcsFuse}: "true": it never starts`,
        fix: fixOf("safe", "add the annotation", edit),
      };
      return;
    }
  },
};
