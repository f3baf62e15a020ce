import { type ObjectStore, openStore } from "../../src/storage/index.ts";
import type { TestServer } from "../servers/server-process.ts";

/** A server that stores can be opened on. */
type BucketServer = TestServer & {
  readonly env: Readonly<Record<string, string>>;
  createBucket(name: string): Promise<string>;
};

/** Fresh stores on one server, which is started for the first of them. */
export interface Buckets {
  open(): Promise<ObjectStore>;
  /** Its URL, for a process of its own. */
  openUrl(): Promise<string>;
  /** Stops the server, if it was started. */
  stop(): Promise<void>;
}

/** Stores on the server that `start` starts. Its variables are put into this process's environment, where threads find them. */
export function bucketsOf(start: () => Promise<BucketServer>): Buckets {
  let server: Promise<BucketServer> | undefined;
  let number = 0;
  const openUrl = async (): Promise<string> => {
    const { env, createBucket } = await (server ??= start());
    Object.assign(process.env, env);
    number += 1;
    return createBucket(`bucket-${number}`);
  };
  return {
    openUrl,
    open: async () => openStore(await openUrl(), { access: "write" }),
    stop: async () => (await server)?.stop(),
  };
}
