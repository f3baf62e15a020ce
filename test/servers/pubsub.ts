import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../support/need.ts";
import { startServer, type TestServer } from "./server-process.ts";

/** Google's Pub/Sub emulator; give `env` to programs that should use it. */
export interface PubSubServer extends TestServer {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  readonly env: Readonly<Record<string, string>>;
}

const folders = [
  ...(process.env["CLOUDSDK_ROOT"] ? [process.env["CLOUDSDK_ROOT"]] : []),
  "/usr/lib/google-cloud-sdk",
  "/usr/share/google-cloud-sdk",
  "/opt/google-cloud-sdk",
];

/** Whether the emulator and a Java to run it are here; says what to install when not. */
export const hasPubSub = (): boolean =>
  needs(
    "Google's Pub/Sub emulator and Java",
    jar() !== undefined && hasJava(),
    "install default-jre-headless and google-cloud-cli-pubsub-emulator (from Google's apt source)",
  );

/** Starts the jar itself: the `gcloud` wrapper leaves Java behind when it is killed. Nothing is kept when it ends. */
export async function startPubSub(options: { readonly port?: number } = {}): Promise<PubSubServer> {
  const path = jar();
  if (!path) throw new Error("the Pub/Sub emulator is not installed");
  const server = await startServer({
    command: "java",
    args: (port) => ["-Xmx256m", "-XX:+UseSerialGC", "-jar", path, "--host=127.0.0.1", `--port=${port}`],
    ...options,
  });
  const host = `127.0.0.1:${server.port}`;
  return { ...server, host, env: { PUBSUB_EMULATOR_HOST: host, METADATA_SERVER_DETECTION: "none" } };
}

function jar(): string | undefined {
  for (const folder of folders) {
    const lib = join(folder, "platform", "pubsub-emulator", "lib");
    if (!existsSync(lib)) continue;
    const name = readdirSync(lib).find((file) => /^cloud-pubsub-emulator-.*\.jar$/.test(file));
    if (name) return join(lib, name);
  }
  return undefined;
}

function hasJava(): boolean {
  try {
    execFileSync("java", ["-version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
