import { createHash, createHmac } from "node:crypto";

/** Headers that make an S3 server take a request of the bare loop: AWS Signature Version 4 without a hash of the body. */
export function signS3(
  request: { readonly method: string; readonly host: string; readonly path: string },
  keys: { readonly id: string; readonly secret: string; readonly region: string },
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = [time.slice(0, 8), keys.region, "s3", "aws4_request"];
  const headers = { host: request.host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": time };
  const names = Object.keys(headers).join(";");
  const canonical = [
    request.method,
    request.path,
    "",
    ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
    "",
    names,
    "UNSIGNED-PAYLOAD",
  ].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const key = scope.reduce<string | Buffer>((sum, part) => hmac(sum, part), `AWS4${keys.secret}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope.join("/"), digest].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope.join("/")}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
