import { isOutlastError } from "../../core/index.ts";
import { type Fault, faultsError, inOrder } from "../faults.ts";
import { type ReadDocument, readSpec } from "../file-schema.ts";
import type { RawSettings } from "../resolve.ts";
import { type Setting, type SettingName, settings } from "../settings.ts";
import { checks } from "./check/index.ts";
import type { RawWorkload } from "./raw.ts";
import { readWorkload } from "./read-workload.ts";
import type { Workload } from "./types.ts";

/** The workloads of a file, and what is doubtful about them. */
export interface ParsedWorkloads {
  readonly workloads: readonly Workload[];
  readonly warnings: readonly Fault[];
}

/** Reads the workloads of outlast.yaml; refuses with all faults and contradictions at once, each with its line. */
export function parseWorkloads(text: string, path: string): ParsedWorkloads {
  const { read, faults: shapeFaults } = readSpec(text, path);
  const faults: Fault[] = [...shapeFaults];
  const [bare] = read.filter(({ workload }) => !workload);
  const workloads: Workload[] = [];
  const names = new Set<string>();
  for (const one of read) {
    if (bare === one) faults.push(...settingFaults(one));
    if (!one.workload) continue;
    const raw: RawWorkload = {
      ...bare?.shared,
      ...one.workload,
      cluster: { ...bare?.shared.cluster, ...one.workload.cluster },
    };
    const workload = readWorkload(raw, merge(bare?.settings, one.settings));
    faults.push(...settingFaults(one), ...findings(workload, raw, one));
    const name = `${workload.namespace}/${workload.name}`;
    if (names.has(name))
      faults.push({
        severity: "error",
        line: one.document.lineOf(["name"]),
        message: `two workloads are called ${name}`,
        hint: "give each a name of its own",
      });
    names.add(name);
    workloads.push(workload);
  }
  if (workloads.length === 0 && faults.length === 0) {
    faults.push({
      severity: "error",
      line: undefined,
      message: "no workload: a document with kind: train, batch or serve",
      hint: "`outlast init` writes one",
    });
  }
  if (faults.some(({ severity }) => severity === "error"))
    throw faultsError(
      path,
      faults.filter(({ severity }) => severity === "error"),
    );
  return { workloads, warnings: inOrder(faults) };
}

function merge(shared: RawSettings | undefined, own: RawSettings): RawSettings {
  return { ...shared, ...own };
}

function findings(workload: Workload, raw: RawWorkload, { document }: ReadDocument): readonly Fault[] {
  return checks
    .flatMap((check) => check(workload, raw))
    .map(({ severity, path, message, hint }) => ({ severity, line: document.lineOf(path), message, hint }));
}

/** Settings that stand in the file are read here too: a slip would otherwise show in a pod, a cluster later. */
function settingFaults({ settings: written, document }: ReadDocument): readonly Fault[] {
  return (Object.entries(written) as [SettingName, string | readonly string[]][]).flatMap(([name, texts]) => {
    const setting: Setting<unknown> = settings[name];
    const path = (setting.file ?? "").split(".");
    return [texts].flat().flatMap((text) => {
      try {
        setting.read(text, setting.file ?? name);
        return [];
      } catch (error) {
        if (!isOutlastError(error)) throw error;
        return [{ severity: "error" as const, line: document.lineOf(path), message: error.message, hint: error.hint }];
      }
    });
  });
}
