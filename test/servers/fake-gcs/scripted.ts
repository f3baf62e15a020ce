import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a scripted server got. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A server that answers as a test tells it. */
export interface ScriptedServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  stop(): Promise<void>;
}

/** What to do with a request: send an answer, or treat the connection badly. */
export type Script = (request: SeenRequest, response: ServerResponse) => void;

/** Starts one. `isEarly` calls the script before the request's body is read, and reads none of it. */
export async function startScripted(script: Script, isEarly = false): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    const act = () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(parts) };
      seen.push(one);
      script(one, response);
    };
    if (isEarly) {
      act();
      return;
    }
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", act);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A script that sends one answer, whatever the request. */
export function answering(status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Script {
  return (_, response) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, {
      "content-type": typeof body === "string" ? "text/plain" : "application/json",
      ...headers,
    });
    response.end(text);
  };
}

/** An error in the words of the JSON API. */
export function refusing(status: number, message: string, reason = "", headers?: Record<string, string>): Script {
  const body = { error: { code: status, message, errors: [{ message, domain: "global", reason }] } };
  return answering(status, body, headers);
}
