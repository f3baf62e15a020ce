import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** Runs a shell command and gives the milliseconds it took; its output is shown when it fails. */
export async function timeShell(command: string, env: Readonly<Record<string, string>> = {}): Promise<number> {
  const began = performance.now();
  await exec("sh", ["-ec", command], { env: { ...process.env, ...env }, maxBuffer: 1 << 26 });
  return performance.now() - began;
}

/** The first line a command prints, or undefined when it is not installed. */
export async function versionOf(command: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    return (await exec(command, args)).stdout.split("\n")[0];
  } catch {
    // Not installed: the caller leaves that peer out and says so.
    return undefined;
  }
}

/** Runs a program of children/ in a process of its own and reads the one JSON line it prints. */
export function runChild<T>(name: string, input: unknown, env: Readonly<Record<string, string>> = {}): Promise<T> {
  const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, JSON.stringify(input)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...env },
    });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output) as T);
      else reject(new Error(`${name} ended with ${code}`));
    });
  });
}
