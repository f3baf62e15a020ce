import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chunk, workerCount } from "./items.ts";

/** Which workers are started, and on what. */
export interface WorkerPlan {
  /** The compiled package. */
  readonly build: string;
  readonly queue: string;
  readonly results?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** @default no-op-handler.mjs */
  readonly handler?: "no-op-handler.mjs" | "stuck-handler.mjs";
}

/** A worker of the shipped command line. */
export interface RunningWorker {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** Resolves when its standard error holds this. */
  readonly says: (text: string) => Promise<void>;
  /** Most memory it ever had, in bytes; of the worker itself, without its handler. */
  readonly peakRss: () => number;
}

/** Starts one. */
export function startWorker({ build, queue, results, env, flags = [], handler }: WorkerPlan): RunningWorker {
  const file = fileURLToPath(new URL(handler ?? "no-op-handler.mjs", import.meta.url));
  const where = ["--queue", queue, ...(results === undefined ? [] : ["--results", results])];
  const args = [join(build, "cli/main.js"), "work", ...where, "--chunk", String(chunk), "--notice", "signal", ...flags];
  const child = spawn(process.execPath, [...args, "--", process.execPath, file], {
    env: { ...ownEnvironment(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const says = async (text: string) => {
    while (!stderr.includes(text)) {
      if (child.exitCode !== null) throw new Error(`a worker ended with ${child.exitCode}:\n${stderr}`);
      await sleep(10);
    }
  };
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, readPeak(child.pid ?? 0));
  }, 50);
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(look);
      resolve({ code, stderr });
    });
  });
  return { child, ended, says, peakRss: () => peak };
}

/** Runs the workers until the queue is drained; gives back the most memory one of them had. */
export async function workOff(plan: WorkerPlan): Promise<number> {
  const workers = Array.from({ length: workerCount }, () =>
    startWorker({ ...plan, flags: [...(plan.flags ?? []), "--until-drained"] }),
  );
  for (const { ended } of workers) {
    const { code, stderr } = await ended;
    if (code !== 0) throw new Error(`a worker ended with ${code}:\n${stderr}`);
  }
  return Math.max(...workers.map(({ peakRss }) => peakRss()));
}

/** Without settings of whoever runs the bench. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OUTLAST_")));
}

function readPeak(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    // It has just ended.
    return 0;
  }
}
