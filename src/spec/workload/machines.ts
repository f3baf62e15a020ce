/** Accelerators by GKE's name, and the machine types that carry them with their number on each. */
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
    "g4-standard-48": 1,
    "g4-standard-6": 1,
    "g4-standard-12": 1,
    "g4-standard-24": 1,
    "g4-standard-96": 2,
    "g4-standard-192": 4,
    "g4-standard-384": 8,
  },
};

/** Accelerators that are added to any N1 machine, and how many of them can be. */
const guests: Readonly<Record<string, readonly number[]>> = {
  "nvidia-tesla-t4": [1, 2, 4],
  "nvidia-tesla-p4": [1, 2, 4],
  "nvidia-tesla-p100": [1, 2, 4],
  "nvidia-tesla-v100": [1, 2, 4, 8],
};

/** What people say instead of GKE's names. */
const everyday: Readonly<Record<string, string>> = {
  a100: "nvidia-tesla-a100",
  "a100-40gb": "nvidia-tesla-a100",
  h100: "nvidia-h100-80gb",
  "h100-mega": "nvidia-h100-mega-80gb",
  h200: "nvidia-h200-141gb",
};

/** Every accelerator known here, by GKE's name. */
export const acceleratorNames: readonly string[] = [...Object.keys(acceleratorMachines), ...Object.keys(guests)];

/** GKE's name of an accelerator, or undefined: `L4`, `nvidia-l4` and `NVIDIA-L4` mean the same. */
export function findAccelerator(text: string): string | undefined {
  const lower = text.toLowerCase();
  const short = lower.replace(/^nvidia-(tesla-)?/, "");
  return (
    acceleratorNames.find((name) => name === lower) ??
    everyday[short] ??
    acceleratorNames.find((name) => name.replace(/^nvidia-(tesla-)?/, "") === short)
  );
}

/** What a machine type carries. */
export interface MachineGpus {
  readonly accelerator: string;
  /** How many may be asked for; one number for machines that come with theirs. */
  readonly counts: readonly number[];
}

/** The accelerators of a machine type; empty for one that has none or is not known here. */
export function gpusOf(machine: string): readonly MachineGpus[] {
  for (const [accelerator, machines] of Object.entries(acceleratorMachines)) {
    const count = machines[machine];
    if (count !== undefined) return [{ accelerator, counts: [count] }];
  }
  if (!machine.startsWith("n1-")) return [];
  return Object.entries(guests).map(([accelerator, counts]) => ({ accelerator, counts }));
}

/** Whether machines of this family always come with accelerators, so that an unknown size of it is a slip. */
export function isGpuFamily(machine: string): boolean {
  return /^(a2|a3|a4|a4x|g2|g4)-/.test(machine);
}

/** The smallest machine type that carries at least `count` of an accelerator. */
export function smallestMachine(accelerator: string, count: number): string | undefined {
  if (guests[accelerator]) return guestCount(accelerator, count) === undefined ? undefined : "n1-standard-8";
  const fits = Object.entries(acceleratorMachines[accelerator] ?? {}).filter(([, has]) => has >= count);
  const least = Math.min(...fits.map(([, has]) => has));
  const names = fits.filter(([, has]) => has === least).map(([name]) => name);
  // An L4 with four vCPUs starves most data loaders; eight is what Google's own examples use.
  return names.includes("g2-standard-8") ? "g2-standard-8" : names[0];
}

/** The machine types of an accelerator, for error messages. */
export function machinesOf(accelerator: string): readonly string[] {
  return guests[accelerator] ? ["n1-standard-8"] : Object.keys(acceleratorMachines[accelerator] ?? {});
}

/** How many of an accelerator a node of this machine has when a pod wants `count`; undefined when it cannot have so many. */
export function nodeCount(machine: string, accelerator: string, count: number): number | undefined {
  if (guests[accelerator]) return machine.startsWith("n1-") ? guestCount(accelerator, count) : undefined;
  const has = acceleratorMachines[accelerator]?.[machine];
  return has !== undefined && has >= count ? has : undefined;
}

function guestCount(accelerator: string, count: number): number | undefined {
  return guests[accelerator]?.find((one) => one >= count);
}
