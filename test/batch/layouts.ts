import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newDatabase } from "../queue/postgres-world.ts";
import { newAddress } from "../queue/pubsub-world.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { hasPubSub, type PubSubServer, startPubSub } from "../servers/pubsub.ts";
import { Job } from "./job.ts";

/** Where jobs may be: what is needed for each is there or not. */
export interface Places {
  readonly folder: string;
  readonly postgres: PostgresServer | undefined;
  readonly pubSub: PubSubServer | undefined;
}

/** Every layout, by name. */
export const layouts = ["SQLite", "Postgres", "Pub/Sub"] as const;
export type LayoutName = (typeof layouts)[number];

/** Whether its server is here. */
export function isHere(name: LayoutName): boolean {
  if (name === "Postgres") return hasPostgres();
  return name === "SQLite" || hasPubSub();
}

/** Starts the servers that are here. */
export async function openPlaces(): Promise<Places> {
  const [folder, postgres, pubSub] = await Promise.all([
    mkdtemp(join(tmpdir(), "outlast-batch-")),
    hasPostgres() ? startPostgres() : undefined,
    hasPubSub() ? startPubSub() : undefined,
  ]);
  return { folder, postgres, pubSub };
}

export async function closePlaces({ folder, postgres, pubSub }: Places): Promise<void> {
  await Promise.all([postgres?.stop(), pubSub?.stop()]);
  await rm(folder, { recursive: true, force: true });
}

/** A new, empty job. */
export function openJob(name: LayoutName, { folder, postgres, pubSub }: Places): Promise<Job> {
  if (name === "Postgres" && postgres) return postgresJob(folder, postgres);
  if (name === "Pub/Sub" && pubSub) return pubSubJob(folder, pubSub);
  if (name === "SQLite") return sqliteJob(folder);
  throw new Error(`${name} is not here`);
}

/** A job whose queue and results are one SQLite file. */
async function sqliteJob(folder: string): Promise<Job> {
  const home = await mkdtemp(join(folder, "sqlite-"));
  const path = join(home, "jobs.db");
  return new Job({ queue: `sqlite:${path}`, lease: "5s", failures: async () => sqliteFailures(path) }, home);
}

/** A job whose queue and results are one Postgres database. */
async function postgresJob(folder: string, server: PostgresServer): Promise<Job> {
  const home = await mkdtemp(join(folder, "postgres-"));
  const { name, url } = await newDatabase(server);
  const failures = async () => {
    const [row] = await server.query("SELECT sum(failures)::int AS failures FROM outlast.items", name);
    return Number(row?.["failures"]);
  };
  return new Job({ queue: url, lease: "5s", failures }, home);
}

/** A job whose messages are in Pub/Sub and whose results are in an SQLite file. */
async function pubSubJob(folder: string, server: PubSubServer): Promise<Job> {
  const home = await mkdtemp(join(folder, "pubsub-"));
  const path = join(home, "results.db");
  const { project, subscription, topic } = newAddress();
  return new Job(
    {
      queue: `pubsub://${project}/${subscription}?topic=${topic}`,
      results: `sqlite:${path}`,
      env: server.env,
      lease: "10s",
      failures: async () => sqliteFailures(path),
    },
    home,
  );
}

function sqliteFailures(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare("SELECT sum(failures) AS failures FROM outlast_items").get();
  db.close();
  return Number(row?.["failures"]);
}
