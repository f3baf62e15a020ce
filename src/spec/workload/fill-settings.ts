import type { RawSettings } from "../resolve.ts";
import type { RawWorkload } from "./raw.ts";

/** What a file's only workload says to commands that read the file; settings that stand beside it win. */
export function fillSettings(workload: RawWorkload): RawSettings {
  const { name, checkpoint, queue, results, grace } = workload;
  const isTraining = workload.kind === "train";
  return {
    ...(isTraining ? { run: name } : {}),
    ...(checkpoint?.store === undefined ? {} : { store: checkpoint.store }),
    ...(checkpoint?.dir === undefined ? {} : { dir: checkpoint.dir }),
    ...(checkpoint?.keep === undefined ? {} : { keep: String(checkpoint.keep) }),
    ...(grace === undefined ? {} : { grace: String(grace) }),
    ...(typeof queue === "string" ? { queue } : {}),
    ...(typeof results === "string" ? { results } : {}),
  };
}
