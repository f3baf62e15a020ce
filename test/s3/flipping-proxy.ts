import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that changes bytes on their way. */
export interface FlippingProxy {
  readonly url: string;
  /** Whose bodies get one bit changed. */
  flip: "nothing" | "requests" | "answers";
  stop(): Promise<void>;
}

/** Starts a proxy to the server at `target` that flips one bit of each body where told. */
export async function startFlippingProxy(target: string): Promise<FlippingProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const onward = request(target + (url ?? ""), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      pass(answer, outgoing, proxy.flip === "answers");
    });
    onward.on("error", () => outgoing.destroy());
    pass(incoming, onward, proxy.flip === "requests");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: FlippingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    flip: "nothing",
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

function pass(from: IncomingMessage, to: { write(part: Buffer): void; end(): void }, isFlipping: boolean): void {
  let isDue = isFlipping;
  from.on("data", (part: Buffer) => {
    const sent = Buffer.from(part);
    if (isDue && sent.length > 0) sent[0] = (sent[0] ?? 0) ^ 1;
    isDue = false;
    to.write(sent);
  });
  from.on("end", () => to.end());
}
