import type { QueueStatusJson } from "./json/queue.ts";

interface Metric {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: (status: QueueStatusJson) => number;
}

const metrics: readonly Metric[] = [
  { name: "ready", type: "gauge", help: "Items that can be claimed now.", value: ({ ready }) => ready },
  { name: "leased", type: "gauge", help: "Items in the hands of workers.", value: ({ leased }) => leased },
  {
    name: "delayed",
    type: "gauge",
    help: "Items that failed and wait to be tried again.",
    value: ({ delayed }) => delayed,
  },
  { name: "dead", type: "gauge", help: "Dead letters.", value: ({ dead }) => dead },
  { name: "items", type: "gauge", help: "Items published.", value: ({ total }) => total },
  {
    name: "oldest_seconds",
    type: "gauge",
    help: "Age of the oldest item that is ready; 0 when none is.",
    value: ({ oldestReadySeconds }) => oldestReadySeconds ?? 0,
  },
  {
    name: "wanted_workers",
    type: "gauge",
    help: "Workers that could be kept busy, from ready plus leased.",
    value: ({ wanted }) => wanted,
  },
  {
    name: "open_publications",
    type: "gauge",
    help: "Publications not closed yet.",
    value: ({ openPublications }) => openPublications,
  },
  { name: "done_total", type: "counter", help: "Items with a result.", value: ({ done }) => done },
  {
    name: "interrupted_total",
    type: "counter",
    help: "Started claims that ran out.",
    value: ({ interruptions }) => interruptions,
  },
  {
    name: "late_total",
    type: "counter",
    help: "Results refused because one stood already.",
    value: ({ late }) => late,
  },
];

/** A queue's depth in Prometheus' text format. */
export function queueMetrics(status: QueueStatusJson): string {
  return metrics
    .map(({ name, type, help, value }) => {
      const full = `outlast_queue_${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full} ${value(status)}\n`;
    })
    .join("");
}
