import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { type ProxiedRequest, readRequest } from "./fault-proxy-request.ts";
import { endToEnd, Upstream } from "./fault-proxy-upstream.ts";
import { ThrottleBucket } from "./throttle-bucket.ts";

/** How far a request has come. */
export interface Sighting {
  readonly request: ProxiedRequest;
  /**
   * `begun`: the proxy knows of it, the server does not; `sending`: more of its body has passed; `answered`: its whole answer has been
   * handed to the client's connection.
   */
  readonly phase: "begun" | "sending" | "answered";
  /** Bytes of its body that have passed. */
  readonly sentBytes: number;
  /** Set when answered. */
  readonly status?: number;
}

/** How {@link startThrottleProxy} works. */
export interface ThrottleProxyOptions {
  readonly target: string;
  readonly host: "keep" | "rewrite";
  /** Shared by all connections, in each direction. @default no limit */
  readonly bytesPerSecond?: number;
  /** Told as requests go by. */
  readonly onSight?: (sighting: Sighting) => void;
}

/** A proxy on loopback as narrow as a slow link. */
export interface ThrottleProxy {
  readonly url: string;
  /** May be changed at any time; 0: connections are taken and nothing ever passes, a black hole. */
  bytesPerSecond: number;
  stop(): Promise<void>;
}

/** Starts one. */
export async function startThrottleProxy(options: ThrottleProxyOptions): Promise<ThrottleProxy> {
  const proxy = new Throttling(options);
  await proxy.listen();
  return proxy;
}

class Throttling implements ThrottleProxy {
  readonly #options: ThrottleProxyOptions;
  readonly #upstream: Upstream;
  readonly #up: ThrottleBucket;
  readonly #down: ThrottleBucket;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #count = 0;

  constructor(options: ThrottleProxyOptions) {
    const { bytesPerSecond = Number.POSITIVE_INFINITY } = options;
    this.#options = options;
    this.#upstream = new Upstream(options.target, options.host);
    this.#up = new ThrottleBucket(bytesPerSecond);
    this.#down = new ThrottleBucket(bytesPerSecond);
  }

  async listen(): Promise<void> {
    this.#server.keepAliveTimeout = 600_000;
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get bytesPerSecond(): number {
    return this.#up.bytesPerSecond;
  }

  set bytesPerSecond(rate: number) {
    this.#up.bytesPerSecond = rate;
    this.#down.bytesPerSecond = rate;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    this.#up.end();
    this.#down.end();
    await closed;
    this.#upstream.close();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let out: ClientRequest | undefined;
    try {
      this.#count += 1;
      const pieces = incoming.iterator({ destroyOnReturn: false });
      const first = (await pieces.next()) as IteratorResult<Buffer, undefined>;
      const start = first.done ? Buffer.alloc(0) : first.value;
      const request = readRequest(incoming, this.#count, start);
      const sight = (phase: Sighting["phase"], sentBytes: number, status?: number) =>
        this.#options.onSight?.({ request, phase, sentBytes, ...(status === undefined ? {} : { status }) });
      sight("begun", 0);
      const length = Number(incoming.headers["content-length"] ?? 0);
      const passedOn = this.#upstream.begin(request, length);
      out = passedOn.out;
      let sentBytes = 0;
      for (let piece = first; !piece.done; piece = (await pieces.next()) as IteratorResult<Buffer, undefined>) {
        await write(out, piece.value, this.#up);
        sentBytes += piece.value.length;
        sight("sending", sentBytes);
      }
      out.end();
      const answer = await passedOn.answered;
      await this.#up.take(0);
      response.writeHead(answer.statusCode ?? 502, [...endToEnd(answer.rawHeaders), ...lengthOf(answer)]);
      for await (const piece of answer) await write(response, piece as Buffer, this.#down);
      response.end();
      sight("answered", sentBytes, answer.statusCode ?? 0);
    } catch {
      // One side went away: so does the other.
      out?.destroy();
      response.socket?.destroy();
    }
  }
}

/** In small pieces, so that a large one does not pass in a burst. */
async function write(target: Writable, piece: Buffer, bucket: ThrottleBucket): Promise<void> {
  for (let at = 0; at < piece.length; at += 16_384) {
    const part = piece.subarray(at, at + 16_384);
    await bucket.take(part.length);
    if (target.destroyed) throw new Error("the other side is gone");
    if (!target.write(part)) await drained(target);
  }
}

function drained(target: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      target.off("drain", done);
      target.off("close", done);
      resolve();
    };
    target.on("drain", done);
    target.on("close", done);
  });
}

function lengthOf(answer: IncomingMessage): string[] {
  const length = answer.headers["content-length"];
  return length === undefined ? [] : ["Content-Length", length];
}
