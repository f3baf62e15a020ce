import { request } from "node:http";

/** One answer of the metadata server. */
export interface MetadataAnswer {
  readonly status: number;
  readonly body: string;
  readonly etag: string | undefined;
}

/** Asks the metadata server once. The connection never keeps the process alive. */
export function getMetadata(
  host: string,
  path: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<MetadataAnswer> {
  return new Promise((resolve, reject) => {
    const req = request(
      `http://${host}/computeMetadata/v1/${path}`,
      { agent: false, headers: { "Metadata-Flavor": "Google" }, signal, timeout: timeoutMs },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on("data", (part: Buffer) => {
          size += part.length;
          if (size > 64 * 1024) response.destroy(new Error("the answer is too long for a metadata value"));
          else parts.push(part);
        });
        response.on("error", reject);
        response.on("end", () => {
          const { etag } = response.headers;
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8").trim(), etag });
        });
      },
    );
    req.on("socket", (socket) => socket.unref());
    req.on("timeout", () => req.destroy(new Error(`no answer from ${host} within ${timeoutMs} ms`)));
    req.on("error", reject);
    req.end();
  });
}
