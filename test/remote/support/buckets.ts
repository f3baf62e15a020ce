import { hasFakeGcsServer, startFakeGcsServer } from "../../servers/gcs.ts";
import { hasVersitygw, startVersitygw } from "../../servers/s3.ts";

/** A bucket service under test. */
export interface Service {
  readonly name: "S3" | "GCS";
  readonly isThere: boolean;
  start(): Promise<RunningService>;
}

/** One that runs, with a bucket in it. */
export interface RunningService {
  readonly url: string;
  /** What a proxy in front of it does with the Host header: S3's signatures cover it, fake-gcs-server insists on its own. */
  readonly host: "keep" | "rewrite";
  /** For programs that use it. */
  readonly env: Record<string, string>;
  /** The store's URL when the service is at an address; in the bucket that is there, or one that was created. */
  storeAt(endpoint: string, bucket?: string): string;
  createBucket(name: string): Promise<unknown>;
  stop(): Promise<void>;
}

const bucket = "outlast-remote";

/** S3 as versitygw serves it. */
export const s3: Service = {
  name: "S3",
  isThere: hasVersitygw(),
  async start() {
    const server = await startVersitygw();
    await server.createBucket(bucket);
    return {
      url: server.url,
      host: "keep",
      env: { ...server.env },
      storeAt: (endpoint, name = bucket) => `s3://${name}/runs?endpoint=${endpoint}`,
      createBucket: (name) => server.createBucket(name),
      stop: () => server.stop(),
    };
  },
};

/** GCS as fake-gcs-server serves it. */
export const gcs: Service = {
  name: "GCS",
  isThere: hasFakeGcsServer(),
  async start() {
    const server = await startFakeGcsServer();
    await server.createBucket(bucket);
    return {
      url: server.url,
      host: "rewrite",
      env: {},
      storeAt: (endpoint, name = bucket) => `gs://${name}/runs?endpoint=${endpoint}`,
      createBucket: (name) => server.createBucket(name),
      stop: () => server.stop(),
    };
  },
};

/** The services that these tests run on. */
export const services: readonly Service[] = [s3, gcs];
