import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the server is to answer to one request. */
export interface Answer {
  /** @default 200 */
  readonly status?: number;
  /** An S3 error's code; makes the usual XML body. */
  readonly code?: string;
  readonly message?: string;
  /** More elements of the XML body. */
  readonly extra?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Breaks the connection instead of answering. */
  readonly hangUp?: boolean;
  /** Sends only so many bytes of the body, then breaks the connection, or stays silent. */
  readonly cut?: { readonly bytes: number; readonly then: "break" | "silence" };
}

/** One request as it came. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server that answers as told. */
export interface ScriptedServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** How many connections were opened so far. */
  readonly connections: number;
  /** Answers for the coming requests, in turn, or decided by request. */
  play(...answers: readonly Answer[]): void;
  playBy(decide: (request: SeenRequest) => Answer): void;
  stop(): Promise<void>;
}

/** Starts a server on loopback that says what a test wants S3 to say. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  let decide: (request: SeenRequest) => Answer = () => ({ status: 500, code: "NothingPlayed" });
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const seen = { method, path, headers, body: Buffer.concat(parts) };
      requests.push(seen);
      send(response, decide(seen));
    });
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    play: (...answers) => {
      requests.length = 0;
      decide = () => answers[requests.length - 1] ?? { status: 500, code: "NothingMorePlayed" };
    },
    playBy: (by) => {
      requests.length = 0;
      decide = by;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer.hangUp) return void response.destroy();
  const body = Buffer.from(answer.body ?? xmlOf(answer));
  const sent = answer.cut ? body.subarray(0, answer.cut.bytes) : body;
  response.writeHead(answer.status ?? 200, { "content-length": body.length, ...answer.headers });
  if (!answer.cut) return void response.end(sent);
  response.write(sent, () => {
    if (answer.cut?.then === "break") response.destroy();
  });
}

function xmlOf({ code, message = "", extra = "" }: Answer): string {
  return code === undefined ? "" : `<Error><Code>${code}</Code><Message>${message}</Message>${extra}</Error>`;
}

/** A page of a listing. */
export function listingOf(
  keys: readonly string[],
  options: { readonly next?: string; readonly folders?: readonly string[] } = {},
): Answer {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>${key.length}</Size></Contents>`).join("");
  const folders = (options.folders ?? [])
    .map((name) => `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`)
    .join("");
  const next = options.next === undefined ? "" : `<NextContinuationToken>${options.next}</NextContinuationToken>`;
  const isTruncated = options.next !== undefined;
  return {
    body: `<ListBucketResult><Name>bucket</Name><IsTruncated>${isTruncated}</IsTruncated>${next}${contents}${folders}</ListBucketResult>`,
  };
}
