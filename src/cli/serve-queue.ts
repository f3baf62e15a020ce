import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exitCodes, OutlastError, systemCode } from "../core/index.ts";
import { createSignalSource } from "../notice/index.ts";
import type { Ledger } from "../results/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";
import type { QueueStatusJson } from "./json/queue.ts";
import { withParts } from "./open-queue.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { statusOf } from "./queue-status.ts";

/** Many may ask; the database is asked once a second at most. */
const freshMs = 1000;

/** Runs `outlast queue serve` until a signal comes. */
export async function serveQueue(args: CommandArgs, context: CommandContext): Promise<number> {
  const { clock, logger } = context;
  const { host, port } = readListen(args.need("listen"));
  const signals = createSignalSource();
  const stopped = Promise.withResolvers<void>();
  const over = new AbortController();
  signals.start(() => stopped.resolve(), over.signal);
  try {
    await withParts(args, context, async ({ ledger, broker }) => {
      const ask = freshly((): Promise<QueueStatusJson> => statusNow(broker?.url ?? ledger.url, ledger, args), clock);
      const server = createServer((request, response) => {
        void answer(request.method ?? "", request.url ?? "", ask, response, logger);
      });
      server.listen(port, host);
      await Promise.race([
        once(server, "listening"),
        once(server, "error").then(([error]) => Promise.reject(cannotListen(args.need("listen"), error))),
      ]);
      const { address, port: bound } = server.address() as AddressInfo;
      logger.info("listening", {
        address: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
        paths: ["/queue/depth", "/metrics"],
      });
      await stopped.promise;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return exitCodes.finished;
  } finally {
    over.abort();
    signals[Symbol.dispose]();
  }
}

async function statusNow(url: string, ledger: Ledger, args: CommandArgs): Promise<QueueStatusJson> {
  return statusOf(url, await ledger.depth(), args);
}

async function answer(
  method: string,
  url: string,
  ask: () => Promise<QueueStatusJson>,
  response: ServerResponse,
  logger: CommandContext["logger"],
): Promise<void> {
  const send = (status: number, type: string, body: string) => {
    response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
    response.end(method === "HEAD" ? undefined : body);
  };
  try {
    const path = url.split("?")[0];
    if (method !== "GET" && method !== "HEAD") send(405, "text/plain", "GET only\n");
    else if (path === "/queue/depth") send(200, "application/json", `${JSON.stringify(await ask())}\n`);
    else if (path === "/metrics") send(200, "text/plain; version=0.0.4; charset=utf-8", queueMetrics(await ask()));
    else if (path === "/healthz") send(200, "text/plain", "ok\n");
    else send(404, "text/plain", "try /queue/depth or /metrics\n");
  } catch (error) {
    // No figure is better than a wrong one: an autoscaler keeps what it has.
    logger.warn("the queue could not be asked", { error });
    send(503, "text/plain", "the queue could not be asked\n");
  }
}

/** Keeps an answer for a moment, and lets those who ask at the same time share it. */
function freshly<T>(ask: () => Promise<T>, clock: CommandContext["clock"]): () => Promise<T> {
  let latest: { readonly atMs: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (latest && clock.monotonic() - latest.atMs < freshMs) return latest.value;
    const value = ask();
    latest = { atMs: clock.monotonic(), value };
    value.catch(() => {
      // Whoever asked sees it; the next one asks anew.
      latest = undefined;
    });
    return value;
  };
}

function readListen(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:(\[[0-9a-f:]+\]|[^:]+):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2] ?? Number.NaN);
  if (!(port >= 0 && port <= 65535)) {
    throw new OutlastError("OUTLAST_USAGE", `--listen "${text}" is not an address`, {
      hint: "write HOST:PORT, such as 127.0.0.1:9463",
    });
  }
  return { host: (match?.[1] ?? "127.0.0.1").replace(/^\[|\]$/g, ""), port };
}

function cannotListen(text: string, error: unknown): OutlastError {
  const why = systemCode(error) === "EADDRINUSE" ? "something else listens there" : String(error);
  return new OutlastError("OUTLAST_USAGE", `cannot listen on ${text}: ${why}`, {
    hint: "choose another address with --listen",
    cause: error,
  });
}
