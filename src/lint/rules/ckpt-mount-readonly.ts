import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";
import { checkpointPlaces } from "./shared/checkpoint-places.ts";
import { isTraining } from "./shared/work.ts";

export const ckptMountReadonly: Rule = {
  id: "ckpt-mount-readonly",
  title: "The checkpoint directory cannot be written",
  severity: "error",
  why: "A mount or volume that is read-only refuses the first save. With frameworks that save late, the work of hours is lost before anyone sees it.",
  fix: "Take readOnly away from the mount and the volume that checkpoints go to.",
  sources: ["Kubernetes: volumes"],
  *template({ template }, context) {
    if (!isTraining(template, context)) return;
    for (const { path, place, isNamed } of checkpointPlaces(template, context).places) {
      const readOnly = [
        place.mount?.get("readOnly"),
        place.volume?.get("persistentVolumeClaim", "readOnly"),
        place.volume?.get("csi", "readOnly"),
      ].find((one) => one?.isTrue);
      // Output flags are written; a checkpoint flag may name one to start from, so a mount of models stays quiet.
      if (!readOnly || !isNamed || /pretrained|base|init|model|weights/i.test(path)) continue;
      yield {
        at: readOnly,
        message: `${path} is mounted read-only: the first save fails`,
        fix: fixOf("unsafe", "make it writable", replaceValue(readOnly, "false")),
      };
    }
  },
};
