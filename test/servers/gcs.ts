import { needs } from "../support/need.ts";
import { builtServer, startServer, type TestServer } from "./server-process.ts";

/** A GCS server; give `env` to programs that should use it. */
export interface GcsServer extends TestServer {
  readonly env: Readonly<Record<string, string>>;
  /** Makes a bucket and returns a store's URL in it. */
  createBucket(name: string): Promise<string>;
}

const fakeGcs = builtServer("fake-gcs-server", "v1.56.1");

/** Whether fake-gcs-server is here; says what to do when not. */
export const hasFakeGcsServer = (): boolean =>
  needs("fake-gcs-server", fakeGcs.isThere, "run tools/test-servers.sh (needs Go and Python)");

/** Starts fake-gcs-server, its objects in memory. */
export async function startFakeGcsServer(options: { readonly port?: number } = {}): Promise<GcsServer> {
  const server = await startServer({
    command: fakeGcs.path,
    args: (port) =>
      `-scheme http -host 127.0.0.1 -port ${port} -backend memory -public-host 127.0.0.1:${port}`.split(" "),
    ...options,
  });
  return {
    ...server,
    env: { STORAGE_EMULATOR_HOST: server.url },
    createBucket: (name) => createBucket(server.url, name),
  };
}

async function createBucket(endpoint: string, name: string): Promise<string> {
  const answer = await fetch(`${endpoint}/storage/v1/b?project=outlast-test`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  if (!answer.ok) throw new Error(`creating bucket ${name}: ${answer.status} ${await answer.text()}`);
  return `gs://${name}/runs`;
}
