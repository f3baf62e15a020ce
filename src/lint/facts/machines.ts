/** Accelerators by the name that nodes carry, with the machines that hold them and how many each holds. */
export const acceleratorMachines: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "nvidia-l4": {
    "g2-standard-4": 1,
    "g2-standard-8": 1,
    "g2-standard-12": 1,
    "g2-standard-16": 1,
    "g2-standard-32": 1,
    "g2-standard-24": 2,
    "g2-standard-48": 4,
    "g2-standard-96": 8,
  },
  "nvidia-tesla-a100": {
    "a2-highgpu-1g": 1,
    "a2-highgpu-2g": 2,
    "a2-highgpu-4g": 4,
    "a2-highgpu-8g": 8,
    "a2-megagpu-16g": 16,
  },
  "nvidia-a100-80gb": { "a2-ultragpu-1g": 1, "a2-ultragpu-2g": 2, "a2-ultragpu-4g": 4, "a2-ultragpu-8g": 8 },
  "nvidia-h100-80gb": { "a3-highgpu-1g": 1, "a3-highgpu-2g": 2, "a3-highgpu-4g": 4, "a3-highgpu-8g": 8 },
  "nvidia-h100-mega-80gb": { "a3-megagpu-8g": 8 },
  "nvidia-h200-141gb": { "a3-ultragpu-8g": 8 },
  "nvidia-b200": { "a4-highgpu-8g": 8 },
  "nvidia-gb200": { "a4x-highgpu-4g": 4 },
  "nvidia-gb300": { "a4x-maxgpu-4g-metal": 4 },
  "nvidia-rtx-pro-6000": {
    "g4-standard-6": 1,
    "g4-standard-12": 1,
    "g4-standard-24": 1,
    "g4-standard-48": 1,
    "g4-standard-96": 2,
    "g4-standard-192": 4,
    "g4-standard-384": 8,
  },
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
