import { execFile, type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { needs } from "../support/need.ts";
import { freePort } from "./server-process.ts";

/** A real PostgreSQL on loopback, with fsync, its own data and a password. */
export interface PostgresServer {
  readonly port: number;
  /** The postmaster's; another after a restart. */
  readonly pid: number;
  /** Makes an empty database and returns its URL, password included. */
  createDatabase(name: string, options?: { readonly owner?: string }): Promise<string>;
  /** Makes a role that may log in, with its password only, and nothing else. */
  createRole(name: string, password: string): Promise<void>;
  /** Runs statements as the superuser; in the given database. */
  query(text: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** Ends the server as a power cut would; its data stay. */
  kill(): Promise<void>;
  /** Stops it (unless it was killed) and starts it again on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const password = "only-for-tests";
const readyWithinMs = 30_000;
const execute = promisify(execFile);

/** Whether a PostgreSQL server is here; says what to install when not. */
export const hasPostgres = (): boolean =>
  needs("a PostgreSQL server", folderOfPrograms() !== undefined, "install Debian's postgresql (any version from 13)");

/** Starts one; it ends with this process at the latest. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = folderOfPrograms();
  if (!programs) throw new Error("no PostgreSQL server is installed");
  const folder = (await asOther("mktemp", "-d", "/tmp/outlast-postgres-XXXXXX")).trim();
  const port = await freePort();
  await initialize(programs, folder);
  let server = await begin(programs, folder, port);
  await runQuery(port, "CREATE ROLE guarded", "postgres");
  const atExit = () => void server.kill("SIGQUIT");
  process.once("exit", atExit);

  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    if (!server.kill(signal)) return;
    await ended;
  };
  const query = (text: string, database = "postgres") => runQuery(port, text, database);
  return {
    port,
    get pid() {
      return server.pid ?? -1;
    },
    createDatabase: async (name, { owner } = {}) => {
      await query(`CREATE DATABASE "${name}"${owner ? ` OWNER "${owner}"` : ""}`);
      return urlOf(port, name);
    },
    createRole: async (name, secret) => {
      await query(`CREATE ROLE "${name}" LOGIN PASSWORD '${secret}' IN ROLE guarded`);
    },
    query,
    kill: () => end("SIGKILL"),
    restart: async () => {
      if (server.exitCode === null && server.signalCode === null) await end("SIGINT");
      server = await begin(programs, folder, port);
    },
    stop: async () => {
      process.off("exit", atExit);
      if (server.exitCode === null && server.signalCode === null) await end("SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function runQuery(port: number, text: string, database: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: urlOf(port, database) });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** The newest installed one. */
function folderOfPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).filter((version) => existsSync(join(root, version, "bin", "initdb")));
  const newest = versions.toSorted((a, b) => Number(a) - Number(b)).at(-1);
  return newest && join(root, newest, "bin");
}

async function initialize(programs: string, folder: string): Promise<void> {
  const secret = `${folder}.password`;
  await writeFile(secret, password, { mode: 0o644 });
  try {
    await asOther(
      join(programs, "initdb"),
      "-D",
      join(folder, "data"),
      "--no-sync",
      "--username=postgres",
      "--encoding=UTF8",
      "--locale=C.UTF-8",
      "--auth=trust",
      `--pwfile=${secret}`,
    );
    // Checking a password takes the server longer than most tests; only the roles that a test makes need theirs.
    const rules = "host all +guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    await writeFile(join(folder, "data", "pg_hba.conf"), rules);
  } finally {
    await rm(secret, { force: true });
  }
}

async function begin(programs: string, folder: string, port: number): Promise<ChildProcess> {
  const [program, ...args] = otherUser([
    join(programs, "postgres"),
    "-D",
    join(folder, "data"),
    "-p",
    `${port}`,
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    "unix_socket_directories=",
    "-c",
    "fsync=on",
    "-c",
    "logging_collector=off",
  ]);
  for (const until = Date.now() + readyWithinMs; ; ) {
    const server = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], cwd: "/" });
    let output = "";
    server.stderr?.on("data", (data: Buffer) => {
      output = (output + data.toString()).slice(-4000);
    });
    while (server.exitCode === null && server.signalCode === null && Date.now() < until) {
      if (await accepts(port)) return server;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    // After a kill the old server's processes may still hold its memory for a moment; then it is worth trying again.
    if (Date.now() > until || !output.includes("shared memory")) {
      server.kill("SIGKILL");
      throw new Error(`PostgreSQL did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function accepts(port: number): Promise<boolean> {
  const client = new Client({ connectionString: urlOf(port, "postgres") });
  try {
    await client.connect();
    return true;
  } catch {
    // Not listening yet, or still starting up.
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function asOther(...command: readonly string[]): Promise<string> {
  const [program, ...args] = otherUser(command);
  return (await execute(program, args, { cwd: "/" })).stdout;
}

/** PostgreSQL refuses to be run by root. */
function otherUser(command: readonly string[]): [string, ...string[]] {
  const [program = "", ...args] = command;
  if (process.getuid?.() !== 0) return [program, ...args];
  return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", program, ...args];
}
