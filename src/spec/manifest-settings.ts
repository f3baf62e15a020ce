import { type Reader, readChoice, readCount, readFlag, readText } from "./readers.ts";
import type { Setting } from "./setting.ts";
import type { Capacity, WorkloadKind } from "./workload/types.ts";

/** Settings of `outlast init` and `outlast manifest`: all of a single call, since the spec itself is their file. */
export interface ManifestSettingTypes {
  readonly split: string;
  readonly explain: boolean;
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly image: string;
  readonly capacity: readonly Capacity[];
  readonly pods: number;
  readonly cluster: string;
  readonly location: string;
  readonly project: string;
}

const readCapacity: Reader<Capacity> = readChoice(["spot", "flex-start", "on-demand"]);

/** The rows of `outlast init` and `outlast manifest` in the table of settings. */
export const manifestSettings: { readonly [Name in keyof ManifestSettingTypes]: Setting<ManifestSettingTypes[Name]> } =
  {
    split: {
      flag: "split",
      value: "DIR",
      variable: false,
      summary: "write one file per object, a script and Terraform into this directory",
      read: readText,
    },
    explain: {
      flag: "explain",
      variable: false,
      summary:
        "say what happens on preemption, drain, expiry, failure: who restarts it, from where, and whose budget pays",
      read: readFlag,
    },
    kind: {
      flag: "kind",
      value: "train|batch|serve",
      variable: false,
      summary: "what kind of work it is",
      read: readChoice(["train", "batch", "serve"]),
    },
    name: {
      flag: "name",
      value: "NAME",
      variable: false,
      summary: "the workload's name; the directory's when left out",
      read: readText,
    },
    image: { flag: "image", value: "IMAGE", variable: false, summary: "the program's image", read: readText },
    capacity: {
      flag: "capacity",
      value: "spot|flex-start|on-demand",
      variable: false,
      many: true,
      summary: "where it runs; several are taken in order of preference",
      read: readCapacity,
    },
    pods: { flag: "pods", value: "N", variable: false, summary: "pods at the same time", read: readCount(1, 100_000) },
    cluster: { flag: "cluster", value: "NAME", variable: false, summary: "the cluster's name", read: readText },
    location: {
      flag: "location",
      value: "PLACE",
      variable: false,
      summary: "the cluster's region or zone",
      read: readText,
    },
    project: { flag: "project", value: "ID", variable: false, summary: "the cluster's project", read: readText },
  };
