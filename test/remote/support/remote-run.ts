import type { Scene } from "../../evictions/support/scene.ts";
import type { Start } from "../../evictions/support/start.ts";

/** Starts `outlast run` of one run on a bucket. */
export function runOn(
  scene: Scene,
  store: string,
  options: {
    readonly run: string;
    readonly dir: string;
    readonly command: readonly string[];
    readonly flags?: readonly string[];
    readonly env: Record<string, string>;
  },
): Start {
  const { run, dir, command, flags = [], env } = options;
  const own = ["--store", store, "--dir", dir, "--run", run, "--notice", "signal", "--log-format", "json"];
  return scene.start(["run", ...own, "--log-level", "debug", ...flags, "--", ...command], { env });
}
