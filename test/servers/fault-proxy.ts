import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProxiedRequest, payloadRange, readRequest } from "./fault-proxy-request.ts";
import { type Answer, endToEnd, Upstream } from "./fault-proxy-upstream.ts";

/** What happens to one request on its way. */
export type ProxyFault =
  /** The connection is reset: `before` the server hears of the request, or `after` it has applied it and answered. */
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  /** The server hears of it late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** It is applied twice and the second answer counts: what a middlebox does that repeats what took too long. */
  | { readonly kind: "twice" }
  /** It is applied and answered, and applied once more later. */
  | { readonly kind: "again-later"; readonly ms: number }
  /** The connection is reset at once, and yet the request is applied later. */
  | { readonly kind: "ghost"; readonly ms: number }
  /** The server gets half of the body, then the connection is gone on both sides. */
  | { readonly kind: "half-request" }
  /** The client gets half of the answer's body and then a reset, or the end of the connection. */
  | { readonly kind: "half-response"; readonly end: "reset" | "close" }
  /** The client gets half of the answer's body, with a length that claims that this is all. */
  | { readonly kind: "short-response" }
  /** A byte of the answer's body is another one; `at` says where, from 0 to 1. */
  | { readonly kind: "flip-response"; readonly at: number }
  /** A byte of the object is another one when it reaches the server. */
  | { readonly kind: "flip-request"; readonly at: number }
  /** The server never hears of it; somebody in front of it answers. */
  | { readonly kind: "status"; readonly status: number; readonly body?: string }
  /** Nobody ever answers. */
  | { readonly kind: "silence" };

/** How {@link startFaultProxy} works. */
export interface FaultProxyOptions {
  /** `http://127.0.0.1:PORT` of the server. */
  readonly target: string;
  /** Whether the server sees the Host header of the client or its own name. */
  readonly host: "keep" | "rewrite";
  /** Asked once a request, when all of it is there. @default no fault */
  readonly decide?: (request: ProxiedRequest) => ProxyFault | undefined;
}

/** An HTTP/1.1 proxy on loopback that does to requests and answers what networks do. */
export interface FaultProxy {
  readonly url: string;
  readonly port: number;
  /** How many requests came. */
  readonly count: number;
  /** What was done, by kind; `drop` and `half-response` by what follows the dash, too. */
  readonly done: ReadonlyMap<string, number>;
  /** Resolves when all that has come until now is applied, what was to be applied later too. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new Proxying(options);
  await proxy.listen();
  return proxy;
}

class Proxying implements FaultProxy {
  readonly done: Map<string, number> = new Map();
  readonly #decide: NonNullable<FaultProxyOptions["decide"]>;
  readonly #upstream: Upstream;
  readonly #underway = new Set<Promise<unknown>>();
  readonly #later = new Set<Promise<unknown>>();
  readonly #server = createServer((request, response) => {
    const handled = this.#handle(request, response).finally(() => this.#underway.delete(handled));
    this.#underway.add(handled);
  });
  #count = 0;

  constructor(options: FaultProxyOptions) {
    this.#decide = options.decide ?? (() => undefined);
    this.#upstream = new Upstream(options.target, options.host);
  }

  async listen(): Promise<void> {
    // Pooled connections may rest for long; the server must not be the one that closes them.
    this.#server.keepAliveTimeout = 600_000;
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get count(): number {
    return this.#count;
  }

  async settled(): Promise<void> {
    // In this order: what is under way now may still leave something for later.
    await Promise.all(this.#underway);
    await Promise.all(this.#later);
  }

  async stop(): Promise<void> {
    await this.settled();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    this.#upstream.close();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(incoming);
      this.#count += 1;
      const request = readRequest(incoming, this.#count, body);
      const fault = this.#decide(request);
      if (fault) this.#tell(fault);
      await this.#carry(request, body, fault, response);
    } catch {
      // The client went away, or the server did not answer: to the other side that is a lost connection.
      reset(response);
    }
  }

  async #carry(
    request: ProxiedRequest,
    body: Buffer,
    fault: ProxyFault | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const ask = (sent: Buffer = body) => this.#upstream.ask(request, sent);
    switch (fault?.kind) {
      case undefined:
        return give(response, request, await ask());
      case "delay":
        await sleep(fault.ms);
        return give(response, request, await ask());
      case "drop":
        if (fault.when === "after") await ask();
        return reset(response);
      case "twice":
        await ask();
        return give(response, request, await ask());
      case "again-later":
        give(response, request, await ask());
        return this.#applyLater(fault.ms, ask);
      case "ghost":
        reset(response);
        return this.#applyLater(fault.ms, ask);
      case "half-request":
        await this.#upstream.sendPart(request, body, Math.floor(body.length / 2));
        return reset(response);
      case "half-response":
        return giveHalf(response, await ask(), fault.end);
      case "short-response": {
        const answer = await ask();
        return give(response, request, { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) });
      }
      case "flip-response": {
        const answer = await ask();
        return give(response, request, { ...answer, body: flip(answer.body, fault.at) });
      }
      case "flip-request":
        return give(response, request, await ask(flip(body, fault.at, payloadRange(request.rawHeaders, body))));
      case "status":
        return give(response, request, { ...fault, rawHeaders: [], body: Buffer.from(fault.body ?? "") });
      case "silence":
        return;
    }
  }

  #applyLater(ms: number, ask: () => Promise<Answer>): void {
    const applied = sleep(ms)
      .then(ask)
      // Nobody waits for its answer any more.
      .catch(() => undefined)
      .finally(() => this.#later.delete(applied));
    this.#later.add(applied);
  }

  #tell(fault: ProxyFault): void {
    const detail = fault.kind === "drop" ? `-${fault.when}` : fault.kind === "half-response" ? `-${fault.end}` : "";
    const name = fault.kind === "status" ? `${fault.status}` : `${fault.kind}${detail}`;
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }
}

function give(response: ServerResponse, { method }: ProxiedRequest, answer: Answer): void {
  // What HEAD says of the body it does not send must be passed on as it is.
  const length = method === "HEAD" ? lengthSaid(answer) : `${answer.body.length}`;
  const hasLength = answer.status !== 204 && answer.status !== 304;
  response.writeHead(answer.status, [...endToEnd(answer.rawHeaders), ...(hasLength ? ["Content-Length", length] : [])]);
  response.end(answer.body);
}

function giveHalf(response: ServerResponse, answer: Answer, end: "reset" | "close"): void {
  if (answer.body.length === 0) return reset(response);
  response.writeHead(answer.status, [...endToEnd(answer.rawHeaders), "Content-Length", `${answer.body.length}`]);
  response.write(answer.body.subarray(0, answer.body.length >> 1), () => {
    if (end === "reset") reset(response);
    else response.socket?.end();
  });
}

function lengthSaid({ rawHeaders }: Answer): string {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
  return at < 0 ? "0" : (rawHeaders[at + 1] ?? "0");
}

function reset({ socket }: ServerResponse): void {
  if (!socket || socket.destroyed) return;
  // A reset of a connection that is being closed in order leaves a handle behind that keeps the process from ending.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function flip(body: Buffer, at: number, range: { from: number; to: number } = { from: 0, to: body.length }): Buffer {
  if (range.to <= range.from) return body;
  const changed = Buffer.from(body);
  const index = range.from + Math.min(range.to - range.from - 1, Math.floor(at * (range.to - range.from)));
  changed.writeUInt8(changed.readUInt8(index) ^ 0x10, index);
  return changed;
}
