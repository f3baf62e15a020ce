import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { needs } from "../support/need.ts";
import { builtServer, startServer, type TestServer, testCache } from "./server-process.ts";

/** An S3 server with its credentials; give `env` to programs that should use it. */
export interface S3Server extends TestServer {
  readonly env: Readonly<Record<string, string>>;
  /** Makes a bucket and returns a store's URL in it. */
  createBucket(name: string): Promise<string>;
}

const versitygw = builtServer("versitygw", "v1.8.0");
const moto = testCache("moto-5.2.2", "bin", "moto_server");
const install = "run tools/test-servers.sh (needs Go and Python)";

/** Whether versitygw is here; says what to do when not. */
export const hasVersitygw = (): boolean => needs("versitygw", versitygw.isThere, install);
/** Whether moto is here; says what to do when not. */
export const hasMoto = (): boolean => needs("moto", existsSync(moto), install);

const env = {
  AWS_ACCESS_KEY_ID: "outlast-test",
  AWS_SECRET_ACCESS_KEY: "outlast-test-secret",
  AWS_REGION: "us-east-1",
  AWS_EC2_METADATA_DISABLED: "true",
};

/** Starts versitygw on an empty folder. */
export async function startVersitygw(
  options: { readonly port?: number; readonly folder?: string } = {},
): Promise<S3Server> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "outlast-s3-")));
  const server = await startServer({
    command: versitygw.path,
    args: (port) => ["--port", `127.0.0.1:${port}`, "posix", folder],
    env: { ROOT_ACCESS_KEY: env.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: env.AWS_SECRET_ACCESS_KEY },
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  const stop = async () => {
    await server.stop();
    if (!options.folder) await rm(folder, { recursive: true, force: true });
  };
  return { ...server, stop, env, createBucket: (name) => createBucket(server.url, name) };
}

/** Starts moto's S3. */
export async function startMoto(): Promise<S3Server> {
  const server = await startServer({ command: moto, args: (port) => ["-H", "127.0.0.1", "-p", `${port}`] });
  return { ...server, env, createBucket: (name) => createBucket(server.url, name) };
}

async function createBucket(endpoint: string, name: string): Promise<string> {
  const client = new S3Client({
    endpoint,
    region: env.AWS_REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
  });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  client.destroy();
  return `s3://${name}/runs?endpoint=${endpoint}`;
}
