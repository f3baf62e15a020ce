import { acceleratorMachines as ofFamilies } from "../../spec/workload/index.ts";

/** Accelerators by the name that nodes carry, with the machines whose name settles their number; N1's guests have none. */
export const acceleratorMachines: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ...ofFamilies,
  "nvidia-tesla-t4": {},
  "nvidia-tesla-p4": {},
  "nvidia-tesla-p100": {},
  "nvidia-tesla-v100": {},
};

/** The most GPUs of a kind that one node can have. */
export const mostPerNode: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    Object.entries(acceleratorMachines).map(([name, machines]) => [name, Math.max(0, ...Object.values(machines))]),
  ),
  "nvidia-tesla-t4": 4,
  "nvidia-tesla-p4": 4,
  "nvidia-tesla-p100": 4,
  "nvidia-tesla-v100": 8,
};

/** TPUs by the name that nodes carry, with the chips that one host may have. */
export const tpuChipsPerHost: Readonly<Record<string, readonly number[]>> = {
  "tpu-v4-podslice": [4],
  "tpu-v5-lite-device": [1, 4, 8],
  "tpu-v5-lite-podslice": [1, 4, 8],
  "tpu-v5p-slice": [4],
  "tpu-v6e-slice": [1, 4, 8],
  tpu7x: [4],
};

/** GPUs of a machine type whose name settles them. */
export function gpusOfMachine(machine: string): { readonly type: string; readonly count: number } | undefined {
  for (const [type, machines] of Object.entries(acceleratorMachines)) {
    const count = machines[machine];
    if (count !== undefined) return { type, count };
  }
  return undefined;
}
