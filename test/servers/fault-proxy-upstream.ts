import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";

/** A server's whole answer. */
export interface Answer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** What is sent on. */
export interface Forwarded {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
}

/** Names that belong to one connection or describe how a body is cut up, not the message. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "expect"]);

/** Headers without those of the connection; as a list, which keeps their spelling: signatures cover it. */
export function endToEnd(rawHeaders: readonly string[], without: readonly string[] = []): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!hopByHop.has(name.toLowerCase()) && !without.includes(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** The server behind a proxy. */
export class Upstream {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #target: URL;
  readonly #host: "keep" | "rewrite";

  /** `rewrite` for servers that answer under their own name only; a signed request must keep the name its client used. */
  constructor(target: string, host: "keep" | "rewrite") {
    this.#target = new URL(target);
    this.#host = host;
  }

  /** Begins a request: `out` takes its body, `answered` resolves with the answer's beginning. */
  begin(
    request: Forwarded,
    length: number,
  ): { readonly out: ClientRequest; readonly answered: Promise<IncomingMessage> } {
    const headers = endToEnd(request.rawHeaders, this.#host === "rewrite" ? ["host"] : []);
    if (this.#host === "rewrite") headers.push("Host", this.#target.host);
    const hasBody = length > 0 || (request.method !== "GET" && request.method !== "HEAD");
    if (hasBody) headers.push("Content-Length", `${length}`);
    const out = httpRequest({
      agent: this.#agent,
      host: this.#target.hostname,
      port: this.#target.port,
      method: request.method,
      path: request.url,
      headers,
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      out.once("error", reject);
      out.once("response", resolve);
    });
    // It may fail while its body is still being sent; who waits for it hears of that then.
    answered.catch(() => {});
    return { out, answered };
  }

  /** Sends a request and resolves with the whole answer. */
  async ask(request: Forwarded, body: Buffer): Promise<Answer> {
    const { out, answered } = this.begin(request, body.length);
    out.end(body);
    const answer = await answered;
    return { status: answer.statusCode ?? 0, rawHeaders: answer.rawHeaders, body: await buffer(answer) };
  }

  /** Sends a part of a request, as if its client died in the middle of it. */
  async sendPart(request: Forwarded, body: Buffer, sent: number): Promise<void> {
    const { out, answered } = this.begin(request, body.length);
    out.flushHeaders();
    out.write(body.subarray(0, sent), () => out.destroy());
    // It ends in an error by design; that it is over is all that counts.
    await answered.catch(() => {});
  }

  close(): void {
    this.#agent.destroy();
  }
}
