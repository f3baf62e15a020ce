import { join } from "node:path";
import type { Measured } from "../children/measure.ts";
import { runChild, timeShell } from "../commands.ts";
import type { Service, ServiceKind } from "./service.ts";
import { bucket } from "./service.ts";

/** One direction of one contender. */
export type Leg = { readonly ms: number } & Partial<Measured> & { readonly threads?: number };

/** A way to get a folder into an object store and back. */
export interface RemoteContender {
  readonly name: string;
  /** Not timed: what the tool needs before its first upload. */
  prepare?(service: Service): Promise<unknown>;
  upload(service: Service): Promise<Leg>;
  restore(service: Service): Promise<Leg>;
  /** Where the restored files are; none for the bare loop. */
  readonly restored?: string;
}

/** What contenders are made for. */
export interface RemoteSetup {
  readonly build: string;
  readonly folder: string;
  /** The checkpoint to move. */
  readonly data: string;
  readonly bytes: number;
  readonly service: ServiceKind;
}

const bareConnections = 4;

/** Ours: hashing, checks of every byte and fsync of what is restored included. */
export function outlast({ build, folder, data }: RemoteSetup): RemoteContender {
  const into = join(folder, "restored-outlast");
  return {
    name: "outlast",
    restored: into,
    upload: ({ store, env }) => runChild("ship", { build, source: data, store, owner: "1-1" }, env),
    restore: ({ store, env }) => runChild("restore", { build, store, into, owner: "1-1" }, env),
  };
}

/** The same number of bytes through node:http and nothing else. */
export function bareLoop({ bytes, service: { kind } }: RemoteSetup, insert?: "media"): RemoteContender {
  const objects = Math.ceil(bytes / (8 * 1024 * 1024));
  const run = (act: "put" | "get") => (service: Service) =>
    runChild<Leg>(
      "bare",
      { kind, act, endpoint: service.endpoint, bucket, objects, connections: bareConnections, insert },
      service.env,
    );
  return { name: insert ? `bare ${insert} loop` : "bare loop", upload: run("put"), restore: run("get") };
}

export function rclone({ folder, data }: RemoteSetup): RemoteContender {
  const into = join(folder, "restored-rclone");
  return {
    name: "rclone copy",
    restored: into,
    upload: async ({ rclone: { place, env } }) => ({ ms: await timeShell(`rclone copy '${data}' '${place}'`, env) }),
    restore: async ({ rclone: { place, env } }) => ({
      ms: await timeShell(`rclone copy '${place}' '${into}'; sync -f '${into}'`, env),
    }),
  };
}

export function restic({ folder, data }: RemoteSetup): RemoteContender {
  const target = join(folder, "restored-restic");
  return {
    name: "restic",
    restored: join(target, data),
    prepare: ({ restic: { place, env } }) => timeShell(`restic init -q -r '${place}'`, env),
    upload: async ({ restic: { place, env } }) => ({
      ms: await timeShell(`restic backup -q --no-cache -r '${place}' '${data}'`, env),
    }),
    restore: async ({ restic: { place, env } }) => ({
      ms: await timeShell(
        `restic restore latest -q --no-cache -r '${place}' --target '${target}'; sync -f '${target}'`,
        env,
      ),
    }),
  };
}
