import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Endpoint } from "./endpoint.ts";

/** One request. */
export interface HttpCall {
  readonly endpoint: Endpoint;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Sent one after the other, without being copied together. */
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  /** How long the connection may show no progress. */
  readonly idleMs: number;
}

/** Takes an answer's body as it comes; what it throws ends the exchange. */
export interface Sink<T> {
  take(part: Buffer): void;
  /** Called when the body is there to its last byte. */
  end(): T;
}

/** The connection ended, or stood still, before the answer was there. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

// One pool for each thread. Idle connections keep no process alive, and are closed before a firewall on the way forgets them.
const pooled = { keepAlive: true, noDelay: true, scheduling: "lifo", timeout: 60_000 } as const;
let plainAgent: HttpAgent | undefined;
let tlsAgent: HttpsAgent | undefined;

/** Sends a request and hands the answer to the sink that `receive` chooses by status and headers. */
export function exchange<T>(call: HttpCall, receive: (response: IncomingMessage) => Sink<T>): Promise<T> {
  const { endpoint, signal, body = [] } = call;
  return new Promise<T>((resolve, reject) => {
    const { protocol, hostname, port } = endpoint;
    const options = {
      protocol,
      hostname,
      method: call.method,
      path: endpoint.basePath + call.path,
      headers: call.headers,
      ...(port !== undefined && { port }),
      timeout: call.idleMs,
    };
    const request =
      protocol === "https:"
        ? httpsRequest({ ...options, agent: (tlsAgent ??= new HttpsAgent(pooled)) })
        : httpRequest({ ...options, agent: (plainAgent ??= new HttpAgent(pooled)) });
    let isSettled = false;
    const settle = (act: () => void) => {
      if (isSettled) return;
      isSettled = true;
      signal?.removeEventListener("abort", abort);
      act();
    };
    const fail = (error: unknown) =>
      settle(() => {
        // First the connection, then the caller, who may use its buffers again from here on.
        request.destroy();
        reject(error);
      });
    const abort = () => fail(signal?.reason);
    const lost = () => fail(new ConnectionLost("the connection ended before the answer was complete"));
    const guarded = (act: () => void) => {
      try {
        act();
      } catch (error) {
        fail(error);
      }
    };
    request.on("error", fail);
    request.on("timeout", () =>
      fail(new ConnectionLost(`nothing moved on the connection for ${call.idleMs / 1000} s`)),
    );
    request.on("close", lost);
    request.on("response", (response) =>
      guarded(() => {
        const sink = receive(response);
        response.on("error", lost);
        response.on("data", (part: Buffer) => guarded(() => !isSettled && sink.take(part)));
        response.on("end", () =>
          guarded(() => {
            const value = sink.end();
            const done = () => settle(() => resolve(value));
            // Often the answer is read before the end of writing is reported. The caller's buffers are in use until then.
            if (request.writableFinished) done();
            else request.once("finish", done);
          }),
        );
      }),
    );
    signal?.addEventListener("abort", abort, { once: true });
    for (const part of body) if (part.length > 0) request.write(part);
    request.end();
  });
}
