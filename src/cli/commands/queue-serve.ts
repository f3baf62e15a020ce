import type { Command } from "../command.ts";

/** `outlast queue serve` */
export const queueServe: Command = {
  name: "queue serve",
  summary: "tell autoscalers and dashboards how deep the queue is, over HTTP",
  description:
    "Answers GET /queue/depth (JSON, for KEDA's metrics-api) and GET /metrics (Prometheus) until it is stopped. Listens on this machine only unless --listen names another address; it has no password, so keep it inside the cluster.",
  examples: [
    { text: "On this machine", command: "outlast queue serve --queue sqlite:jobs.db" },
    {
      text: "In a pod",
      command: "outlast queue serve --queue postgres://db/jobs --listen 0.0.0.0:9463 --max-workers 50",
    },
  ],
  flags: ["queue", "results", "listen", "chunk", "chunksPerWorker", "maxWorkers"],
  required: ["queue", "listen"],
  handler: async (args, context) => {
    const { serveQueue } = await import("../serve-queue.ts");
    return serveQueue(args, context);
  },
};
