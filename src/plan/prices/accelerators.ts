/** Everyday names of accelerators and what GKE calls them. */
const names: Readonly<Record<string, string>> = {
  t4: "nvidia-tesla-t4",
  l4: "nvidia-l4",
  v100: "nvidia-tesla-v100",
  a100: "nvidia-tesla-a100",
  "a100-40gb": "nvidia-tesla-a100",
  "a100-80gb": "nvidia-a100-80gb",
  h100: "nvidia-h100-80gb",
  "h100-80gb": "nvidia-h100-80gb",
  "h100-mega": "nvidia-h100-mega-80gb",
  h200: "nvidia-h200-141gb",
  b200: "nvidia-b200",
};

/** GKE's name of an accelerator: `A100` and `nvidia-tesla-a100` mean the same. */
export function acceleratorName(text: string): string {
  const lower = text.toLowerCase();
  return names[lower.replace(/^nvidia-(tesla-)?/, "")] ?? names[lower] ?? lower;
}
