import { OutlastError } from "./errors.ts";

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes as people read them: `512 B`, `8.0 MiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}

/** Reads `"200MiB"`, `"1.5GB"` or a bare number of bytes. */
export function parseBytes(text: string, what = "size"): number {
  const match = /^(\d+(?:\.\d+)?)\s*(|B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/i.exec(text.trim());
  if (!match) {
    throw new OutlastError("OUTLAST_USAGE", `${what} "${text}" is not a number of bytes`, {
      hint: "write a number and a unit, such as 200MiB or 1GB",
    });
  }
  const unit = (match[2] ?? "").toLowerCase();
  const power = ["b", "k", "m", "g", "t"].indexOf(unit[0] ?? "b");
  return Math.round(Number(match[1]) * (unit.includes("i") ? 1024 : 1000) ** Math.max(0, power));
}
