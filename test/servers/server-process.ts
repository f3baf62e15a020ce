import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

/** A server started for a test, on loopback. */
export interface TestServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** How to start one. */
export interface ServerCommand {
  readonly command: string;
  readonly args: (port: number) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** @default a free one */
  readonly port?: number;
  /** Asked until it holds. @default something listens on the port */
  readonly isReady?: (url: string) => Promise<boolean>;
}

const readyWithinMs = 30_000;

/** Where `tools/test-servers.sh` puts what it builds. */
export function testCache(...path: string[]): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "outlast-test", ...path);
}

/** The path of a built server, and whether it is there. */
export function builtServer(name: string, version: string): { readonly path: string; readonly isThere: boolean } {
  const path = testCache("bin", `${name}-${version}`);
  return { path, isThere: existsSync(path) };
}

/** Starts a server and waits until it answers; it ends with this process at the latest. */
export async function startServer(server: ServerCommand): Promise<TestServer> {
  const port = server.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(server.command, server.args(port), {
    env: { ...process.env, ...server.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      output = (output + data.toString()).slice(-4000);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", (error) => {
      output += String(error);
      resolve();
    });
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async () => {
    process.off("exit", kill);
    if (isRunning(child)) child.kill("SIGKILL");
    await ended;
  };
  const isReady = server.isReady ?? answers;
  for (const until = Date.now() + readyWithinMs; ; ) {
    if (await isReady(url)) return { port, url, pid: child.pid ?? -1, stop };
    if (!isRunning(child) || Date.now() > until) {
      await stop();
      throw new Error(`${server.command} did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** A port nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = address && typeof address === "object" ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}
