import { connect, createServer, type Socket } from "node:net";

/** A proxy before a Postgres server that can lose replies. */
export interface PostgresProxy {
  readonly port: number;
  /**
   * Cuts the connection that next sends something with `text` in it: before the server sees it, or after the server has answered (and so
   * has committed), without the answer.
   */
  cutNext(text: string, when: "before" | "after"): void;
  /** How many connections were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** Starts one on loopback. */
export async function startPostgresProxy(target: number): Promise<PostgresProxy> {
  let armed: { readonly text: string; readonly when: "before" | "after" } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let losesReply = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (data) => {
      if (armed && data.includes(armed.text)) {
        cuts += 1;
        const { when } = armed;
        armed = undefined;
        if (when === "before") return end();
        losesReply = true;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => (losesReply ? end() : client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: address && typeof address === "object" ? address.port : 0,
    cutNext: (text, when) => {
      armed = { text, when };
    },
    get cuts() {
      return cuts;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
