import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import type { BucketUrl } from "../bucket-url.ts";

const connectMs = 10_000;

/** The client for a bucket: the default credential chain, no retries of its own, and no work on the bytes of a body. */
export async function createS3Client(
  place: BucketUrl,
  endpoint: string | undefined,
  // So long may a connection stay silent; a slow link still moves a byte now and then.
  idleMs = 30_000,
): Promise<S3Client> {
  const config: S3ClientConfig = {
    // One attempt: the store's caller retries, and knows the deadline.
    maxAttempts: 1,
    // Checksums are ours, native; the client's are JavaScript.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // With the header the client opens a connection for each put and waits a round trip before it sends.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      httpAgent: { keepAlive: true, maxSockets: 256 },
      httpsAgent: { keepAlive: true, maxSockets: 256 },
    },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(place.region === undefined ? {} : { region: place.region }),
  };
  const client = addHeaders(new S3Client(config));
  if (endpoint === undefined || place.region !== undefined) return client;
  try {
    await client.config.region();
    return client;
  } catch {
    // The chain names no region: right for most servers that are not Amazon's, which do not care.
    client.destroy();
    return addHeaders(new S3Client({ ...config, region: "us-east-1" }));
  }
}

/** Another server's address, from the URL or as the AWS tools take it from the environment. */
export function endpointOf(place: BucketUrl, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (place.endpoint !== undefined) return place.endpoint;
  if (env["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.toLowerCase() === "true") return undefined;
  return env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"] || undefined;
}

/**
 * The body of a put is not hashed for its signature (SHA-256 would halve the speed): its CRC-32C is a signed header and
 * the server compares it. A get asks for the stored checksum without letting the client verify it in JavaScript.
 */
function addHeaders(client: S3Client): S3Client {
  client.middlewareStack.add(
    (next, context) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      const command = context["commandName"];
      if (command === "PutObjectCommand") headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD";
      if (command === "GetObjectCommand") headers["x-amz-checksum-mode"] = "ENABLED";
      return next(args);
    },
    { step: "build", name: "outlastHeaders" },
  );
  return client;
}
