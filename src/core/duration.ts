import { OutlastError } from "./errors.ts";

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `"15s"`, `"500ms"`, `"1h30m"` or a bare number of seconds as milliseconds. */
export function parseDuration(text: string, what = "duration"): number {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) {
    throw new OutlastError("OUTLAST_USAGE", `${what} "${text}" is not a length of time`, {
      hint: `write a number and a unit, such as 15s, 500ms, 2m or 1h30m`,
    });
  }
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * unitsMs[unit as keyof typeof unitsMs];
  }
  return total;
}

/** Milliseconds as people write them: `850ms`, `4.2s`, `3m20s`, `2h05m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${Number(seconds.toFixed(1))}s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes}m${String(Math.round(seconds) % 60).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d${String(hours % 24).padStart(2, "0")}h`;
}
