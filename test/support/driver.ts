import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SuperviseJournalEvent, SuperviseResult } from "../../src/supervisor/index.ts";
import type { DriverRequest } from "../fixtures/supervise-driver.ts";

const fixtures = join(import.meta.dirname, "../fixtures");

/** Path of a child program under test/fixtures/children. */
export const childProgram = (name: string): string => join(fixtures, "children", name);

/** The command line of the many-flagged trainer. */
export const trainer = (...flags: readonly string[]): readonly string[] => [
  process.execPath,
  childProgram("trainer.ts"),
  ...flags,
];

/** What the driver wrote down before it ended. */
export interface DriverReport {
  readonly result?: SuperviseResult;
  readonly error?: string;
  readonly overdue?: boolean;
  readonly calls: readonly string[];
  readonly finishRemainingMs?: number;
  /** Wall-clock milliseconds just before the process ended. */
  readonly endedAt: number;
  /** The known end it was given. */
  readonly endsAt?: number;
  /** How late its timers came at worst: on a busy machine everything is late by as much. */
  readonly lagMs: number;
  readonly journal: readonly SuperviseJournalEvent[];
  // biome-ignore format: one line reads better
  readonly events: readonly ({ readonly name: string; readonly at: number } & Readonly<Record<string, unknown>>)[];
}

/** How a driver process ended. */
export interface DriverEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly report: DriverReport;
  /** Wall-clock milliseconds at which the process was gone. */
  readonly atMs: number;
}

/** A supervisor in a process of its own. */
export interface Driver {
  readonly process: ChildProcess;
  readonly pid: number;
  /** A directory of its own, removed by {@link endDrivers}. */
  readonly dir: string;
  readonly ended: Promise<DriverEnd>;
  /** Resolves when standard output holds `text`. */
  said(text: string): Promise<void>;
  /** Sends a signal and returns when it was sent. */
  kill(signal: NodeJS.Signals): number;
}

const drivers = new Set<Driver>();

/** Starts a supervisor process; `wrap` puts another program in front of it. */
export function startDriver(request: Omit<DriverRequest, "report">, wrap: readonly string[] = []): Driver {
  const dir = mkdtempSync(join(tmpdir(), "outlast-process-"));
  const report = join(dir, "report.json");
  const whole: DriverRequest = { ...request, options: { dir, ...request.options }, report };
  const node = [process.execPath, join(fixtures, "supervise-driver.ts"), JSON.stringify(whole)];
  const [file = "", ...args] = [...wrap, ...node];
  const child = spawn(file, args, {
    cwd: dir,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TEST_DRIVER: dir },
  });
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("latin1").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<DriverEnd>((resolve, reject) => {
    let atMs = 0;
    child.once("error", reject);
    child.once("exit", () => {
      atMs = Date.now();
    });
    child.once("close", (code, signal) => {
      try {
        resolve({ code, signal, stdout, stderr, report: JSON.parse(readFileSync(report, "utf8")), atMs });
      } catch (error) {
        reject(new Error(`the driver left no report (exit ${code} ${signal}):\n${stderr}`, { cause: error }));
      }
    });
  });
  ended.catch(() => {});
  const driver: Driver = {
    process: child,
    pid: child.pid ?? -1,
    dir,
    ended,
    said(text) {
      return new Promise((resolve, reject) => {
        const look = () => {
          if (!stdout.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`ended without saying "${text}": ${stdout}${stderr}`)), reject);
      });
    },
    kill(signal) {
      const at = Date.now();
      child.kill(signal);
      return at;
    },
  };
  drivers.add(driver);
  return driver;
}

/** Ends what tests left running; throws when a supervisor that had ended left processes behind. */
export async function endDrivers(): Promise<void> {
  const left: number[] = [];
  for (const driver of drivers) {
    if (driver.process.exitCode === null && driver.process.signalCode === null) driver.process.kill("SIGKILL");
    await driver.ended.catch(() => {});
    left.push(...processesOf(driver.dir));
    rmSync(driver.dir, { recursive: true, force: true });
  }
  drivers.clear();
  for (const pid of left) process.kill(pid, "SIGKILL");
  if (left.length > 0) throw new Error(`${left.length} processes were left behind`);
}

/** Processes that run a program of ours or inherited the driver's environment, by its directory. */
export function processesOf(dir: string): readonly number[] {
  const marker = `TEST_DRIVER=${dir}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const isZombie = /^State:\s+Z/m.test(readFileSync(`/proc/${name}/status`, "utf8"));
        return !isZombie && readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(marker);
      } catch {
        // Gone meanwhile.
        return false;
      }
    })
    .map(Number);
}
