import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineReader } from "./line-reader.ts";
import { type ChildMessage, parseChildMessage, type SupervisorMessage } from "./socket-messages.ts";

/** The kernel's sun_path holds 108 bytes on Linux and 104 on macOS, the closing zero included. */
const longestPath = 100;
/** No message comes near it; a longer line is noise. */
const longestLine = 64 * 1024;
/** A client that does not read is dropped before its backlog costs memory. */
const largestBacklog = 1024 * 1024;

/** How {@link openChildSocket} answers. */
export interface ChildSocketOptions {
  readonly onMessage: (message: ChildMessage) => void;
  readonly onWarning: (message: string, error?: unknown) => void;
  /** What every client is told first. */
  readonly hello: () => SupervisorMessage;
  /** What a client that connects late must still hear, such as a notice under way. */
  readonly catchUp?: () => readonly SupervisorMessage[];
  /** Where the private directory is made. @default os.tmpdir(), or /tmp when that is too long */
  readonly tempDir?: string | undefined;
}

/** The supervisor's end of the newline-JSON socket. */
export interface ChildSocket {
  readonly path: string;
  /** Clients connected now. */
  readonly clients: number;
  /** Tells every client; one that cannot be told is dropped. */
  send(message: SupervisorMessage): void;
  /** Resolves when no client is connected: then all that was said has been heard. */
  allGone(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the socket in a directory that only this user can enter. See docs/reference/socket.md. */
export async function openChildSocket(options: ChildSocketOptions): Promise<ChildSocket> {
  const directory = await makePrivateDirectory(options.tempDir ?? tmpdir());
  const path = join(directory, "s");
  const clients = new Set<Socket>();
  let onAllGone: () => void = () => {};

  const write = (client: Socket, message: SupervisorMessage) => {
    if (client.destroyed) return;
    if (client.writableLength > largestBacklog) {
      options.onWarning("a client of the socket does not read what it is sent and was dropped");
      client.destroy();
    } else if (client.writable) {
      client.write(`${JSON.stringify(message)}\n`);
    }
  };
  const receive = (line: string) => {
    const message = parseChildMessage(line);
    if (typeof message === "string")
      options.onWarning(`a line on the socket was ignored: ${message}: ${line.slice(0, 80)}`);
    else options.onMessage(message);
  };
  const server = createServer((client) => {
    clients.add(client);
    const lines = new LineReader(longestLine, receive, () =>
      options.onWarning(`a line on the socket was ignored: it is longer than ${longestLine} bytes`),
    );
    client.on("data", (data: Buffer) => lines.push(data));
    client.on("close", () => {
      clients.delete(client);
      if (clients.size === 0) onAllGone();
    });
    // A child that dies resets its connection; that is an end like any other.
    client.on("error", () => client.destroy());
    write(client, options.hello());
    for (const message of options.catchUp?.() ?? []) write(client, message);
  });
  server.on("error", (error) => options.onWarning("the socket failed", error));
  await listen(server, path, directory);

  let closing: Promise<void> | undefined;
  return {
    path,
    get clients() {
      return clients.size;
    },
    send(message) {
      for (const client of clients) write(client, message);
    },
    allGone() {
      if (clients.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        onAllGone = resolve;
      });
    },
    close() {
      closing ??= (async () => {
        for (const client of clients) client.destroy();
        await new Promise<void>((resolve) => server.close(() => resolve()));
        await rm(directory, { recursive: true, force: true });
      })();
      return closing;
    },
  };
}

async function makePrivateDirectory(base: string): Promise<string> {
  // mkdtemp makes it 0700 whatever the umask.
  const fits = Buffer.byteLength(join(base, "outlast-XXXXXX", "s")) <= longestPath;
  return mkdtemp(join(fits ? base : "/tmp", "outlast-"));
}

async function listen(server: Server, path: string, directory: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}
