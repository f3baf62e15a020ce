import { randomFillSync } from "node:crypto";
import { Agent, request } from "node:http";
import { signS3 } from "../remote/sign.ts";
import { measure } from "./measure.ts";

// The least that any client in this runtime has to do: bodies of 8 MiB out of or into one buffer per connection, over a few connections
// of node:http; no files, no hashing, no checks. Prints one JSON line.
const input = JSON.parse(process.argv[2] ?? "{}") as {
  kind: "s3" | "gcs";
  act: "put" | "get";
  endpoint: string;
  bucket: string;
  objects: number;
  connections: number;
  /** GCS: how an object is inserted. Only a multipart insert can carry a checksum, as every careful client's does. */
  insert?: "multipart" | "media";
};
const bodyBytes = 8 * 1024 * 1024;
const { host, hostname, port } = new URL(input.endpoint);
const agent = new Agent({ keepAlive: true, maxSockets: input.connections });
const env = process.env;
const keys = {
  id: env["AWS_ACCESS_KEY_ID"] ?? "",
  secret: env["AWS_SECRET_ACCESS_KEY"] ?? "",
  region: env["AWS_REGION"] ?? "us-east-1",
};

interface Body {
  readonly parts: readonly Uint8Array[];
  readonly type: string;
}

function send(method: string, path: string, body: Body | undefined, into: Uint8Array): Promise<void> {
  const bytes = body?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0;
  const length = body ? { "content-length": bytes, "content-type": body.type } : {};
  const auth = input.kind === "s3" ? signS3({ method, host, path }, keys, new Date()) : {};
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, agent, method, path, headers: { ...auth, ...length } }, (answer) => {
      let at = 0;
      answer.on("data", (part: Buffer) => {
        if (!body) into.set(part, at);
        at += part.length;
      });
      answer.on("end", () => {
        const isFine = answer.statusCode === 200 && (body !== undefined || at === bodyBytes);
        if (isFine) resolve();
        else reject(new Error(`${method} ${path}: ${answer.statusCode}, ${at} bytes`));
      });
      answer.on("error", reject);
    });
    call.on("error", reject);
    for (const part of body?.parts ?? []) call.write(part);
    call.end();
  });
}

function exchange(number: number, buffer: Uint8Array): Promise<void> {
  const name = `bare-${number}`;
  const { bucket, act } = input;
  const plain = { parts: [buffer], type: "application/octet-stream" };
  if (input.kind === "s3") {
    return send(act.toUpperCase(), `/${bucket}/${name}`, act === "put" ? plain : undefined, buffer);
  }
  if (act === "get") return send("GET", `/storage/v1/b/${bucket}/o/${name}?alt=media`, undefined, buffer);
  const path = `/upload/storage/v1/b/${bucket}/o`;
  if (input.insert === "media") return send("POST", `${path}?uploadType=media&name=${name}`, plain, buffer);
  return send("POST", `${path}?uploadType=multipart`, multipart(name, buffer), buffer);
}

function multipart(name: string, buffer: Uint8Array): Body {
  const boundary = "bare-0123456789abcdef";
  const head = `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify({ name })}\r\n--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  return { parts: [Buffer.from(head), buffer, Buffer.from(tail)], type: `multipart/related; boundary=${boundary}` };
}

let next = 0;
const buffers = Array.from({ length: input.connections }, () => randomFillSync(Buffer.allocUnsafeSlow(bodyBytes)));
const measured = await measure(() =>
  Promise.all(
    buffers.map(async (buffer) => {
      while (next < input.objects) {
        next += 1;
        await exchange(next, buffer);
      }
    }),
  ),
);
agent.destroy();
process.stdout.write(`${JSON.stringify({ ...measured, value: undefined })}\n`);
