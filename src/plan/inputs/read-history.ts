import { OutlastError } from "../../core/index.ts";
import type { Measurements } from "./calibration.ts";

const keys = ["saveSeconds", "uploadSeconds", "restartSeconds", "waitSeconds", "flexWaitSeconds"] as const;

/**
 * Reads measurements from a file: our own format (an object with `preemptions` and lists of seconds), or a Cloud Monitoring export of
 * `kubernetes.io/node/interruption_count` (the JSON of projects.timeSeries.list).
 */
export function readHistory(text: string, file: string): Measurements {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(file, `it is not JSON: ${(error as Error).message}`);
  }
  if (value === null || typeof value !== "object") throw wrong(file, "it is not an object");
  const fields = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(value) || "timeSeries" in fields) return readTimeSeries(value, file);
  return readOwn(fields, file);
}

function readOwn(fields: Readonly<Record<string, unknown>>, file: string): Measurements {
  const known = new Set<string>(["schema", "source", "preemptions", ...keys]);
  const unknown = Object.keys(fields).find((key) => !known.has(key));
  if (unknown !== undefined) throw wrong(file, `it has an unknown key "${unknown}"`);
  const samples: Record<string, number[] | undefined> = {};
  for (const key of keys) {
    const list = fields[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || !list.every((one) => typeof one === "number" && Number.isFinite(one) && one >= 0)) {
      throw wrong(file, `${key} is not a list of seconds, none below zero`);
    }
    samples[key] = list as number[];
  }
  const counted = fields["preemptions"] as { events?: unknown; nodeHours?: unknown } | undefined;
  if (counted !== undefined) checkCount(counted.events, counted.nodeHours, file);
  return {
    ...samples,
    preemptions: counted && { events: Number(counted.events), nodeHours: Number(counted.nodeHours) },
    source: typeof fields["source"] === "string" ? fields["source"] : file,
  };
}

/** Interruptions are summed over all series; the hours are those from the first point to the last, once per node series. */
function readTimeSeries(value: unknown, file: string): Measurements {
  const list: unknown = Array.isArray(value) ? value : (value as { timeSeries: unknown }).timeSeries;
  if (!Array.isArray(list)) throw wrong(file, "timeSeries is not a list");
  let events = 0;
  const spans = new Map<string, { from: number; to: number }>();
  list.forEach((one, index) => {
    const series = one as {
      metric?: { type?: string; labels?: Record<string, string> };
      resource?: { labels?: Record<string, string> };
      points?: { interval?: { startTime?: string; endTime?: string }; value?: { int64Value?: string | number } }[];
    };
    const type = series.metric?.type ?? "";
    if (!type.endsWith("node/interruption_count")) {
      throw wrong(file, `series ${index + 1} is ${type || "of no type"}, not kubernetes.io/node/interruption_count`);
    }
    // Maintenance and the like also interrupt a node, but are not what churn counts.
    const isPreemption = /preempt/i.test(
      series.metric?.labels?.["interruption_reason"] ?? series.metric?.labels?.["interruption_type"] ?? "preempt",
    );
    const node = Object.values(series.resource?.labels ?? {}).join("/") || `series ${index + 1}`;
    for (const point of series.points ?? []) {
      const count = Number(point.value?.int64Value ?? 0);
      const from = Date.parse(point.interval?.startTime ?? point.interval?.endTime ?? "");
      const to = Date.parse(point.interval?.endTime ?? "");
      if (!Number.isFinite(count) || count < 0 || Number.isNaN(to))
        throw wrong(file, `series ${index + 1} has a point that cannot be read`);
      if (isPreemption) events += count;
      const span = spans.get(node);
      spans.set(node, { from: Math.min(span?.from ?? from, from), to: Math.max(span?.to ?? to, to) });
    }
  });
  const nodeHours = [...spans.values()].reduce((sum, { from, to }) => sum + (to - from) / 3_600_000, 0);
  checkCount(events, nodeHours, file);
  return { preemptions: { events, nodeHours }, source: `${file} (Cloud Monitoring)` };
}

function checkCount(events: unknown, hours: unknown, file: string): void {
  if (!Number.isInteger(events) || (events as number) < 0) throw wrong(file, "preemptions.events is not a count");
  if (typeof hours !== "number" || !(hours > 0) || !Number.isFinite(hours)) {
    throw wrong(file, "there are no hours to divide by (preemptions.nodeHours must be above zero)");
  }
}

function wrong(file: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${file} cannot be read as measurements: ${what}`, {
    target: file,
    hint: 'write {"preemptions": {"events": 3, "nodeHours": 40}, "uploadSeconds": [61, 75]}, or give a Cloud Monitoring export',
  });
}
