import { startFakeGcsServer } from "../../test/servers/gcs.ts";
import { startVersitygw } from "../../test/servers/s3.ts";

/** A running server with one empty bucket, and how each tool reaches it. */
export interface Service {
  readonly endpoint: string;
  /** Our store's URL. */
  readonly store: string;
  /** For our own children and the bare loop. */
  readonly env: Readonly<Record<string, string>>;
  readonly rclone: Peer;
  readonly restic: Peer;
  stop(): Promise<void>;
}

/** How a tool names the place, and the environment it needs for that. */
export interface Peer {
  readonly place: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A kind of object store to measure against. */
export interface ServiceKind {
  readonly kind: "s3" | "gcs";
  /** The server and its version. */
  readonly server: string;
  start(folder: string): Promise<Service>;
}

export const bucket = "bench";
const password = { RESTIC_PASSWORD: "bench" };

/** Objects as files below the bench's own folder. */
export const versitygw: ServiceKind = {
  kind: "s3",
  server: "versitygw v1.8.0",
  start: async (folder) => {
    const server = await startVersitygw({ folder });
    const store = await server.createBucket(bucket);
    return {
      endpoint: server.url,
      store,
      env: server.env,
      rclone: { place: `bench:${bucket}/rclone`, env: { ...server.env, ...rcloneS3(server.url) } },
      restic: { place: `s3:${server.url}/${bucket}/restic`, env: { ...server.env, ...password } },
      stop: () => server.stop(),
    };
  },
};

/** Objects in its memory: it is started anew for each contender. */
export const fakeGcsServer: ServiceKind = {
  kind: "gcs",
  server: "fake-gcs-server v1.56.1",
  start: async () => {
    const server = await startFakeGcsServer();
    const store = await server.createBucket(bucket);
    return {
      endpoint: server.url,
      store,
      env: server.env,
      rclone: { place: `bench:${bucket}/rclone`, env: rcloneGcs(server.url) },
      restic: {
        place: `gs:${bucket}:/restic`,
        env: { ...server.env, ...password, GOOGLE_PROJECT_ID: "bench", GOOGLE_ACCESS_TOKEN: "none" },
      },
      stop: () => server.stop(),
    };
  },
};

function rcloneS3(endpoint: string): Record<string, string> {
  return {
    RCLONE_CONFIG_BENCH_TYPE: "s3",
    // It refuses to work where the environment names one, even for plain HTTP.
    AWS_CA_BUNDLE: "",
    RCLONE_CONFIG_BENCH_PROVIDER: "Other",
    RCLONE_CONFIG_BENCH_ENDPOINT: endpoint,
    RCLONE_CONFIG_BENCH_ENV_AUTH: "true",
    RCLONE_CONFIG_BENCH_FORCE_PATH_STYLE: "true",
  };
}

function rcloneGcs(endpoint: string): Record<string, string> {
  return {
    RCLONE_CONFIG_BENCH_TYPE: "google cloud storage",
    RCLONE_CONFIG_BENCH_ANONYMOUS: "true",
    RCLONE_CONFIG_BENCH_BUCKET_POLICY_ONLY: "true",
    RCLONE_CONFIG_BENCH_ENDPOINT: `${endpoint}/storage/v1/`,
  };
}
