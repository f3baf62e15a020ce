import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { needs } from "../support/need.ts";
import type { GcsServer } from "./gcs.ts";
import { builtServer } from "./server-process.ts";

const gcsfuse = builtServer("gcsfuse", "v3.8.4");

/** Whether buckets can be mounted here; says what to do when not. */
export const hasGcsfuse = (): boolean =>
  needs(
    "gcsfuse and /dev/fuse",
    gcsfuse.isThere && existsSync("/dev/fuse") && existsSync("/usr/bin/fusermount3") && process.getuid?.() === 0,
    "run tools/test-servers.sh (needs Go), install fuse3, and run as root with /dev/fuse",
  );

export interface MountOptions {
  readonly server: GcsServer;
  readonly bucket: string;
  /** Where to mount it; made if need be. */
  readonly point: string;
  /** A file for what gcsfuse says. */
  readonly log: string;
  readonly flags?: readonly string[];
}

const mountedWithinMs = 20_000;

/** A bucket of fake-gcs-server, mounted by the real gcsfuse. */
export class FuseMount {
  readonly point: string;
  readonly #options: MountOptions;
  #process: ChildProcess | undefined;

  private constructor(options: MountOptions) {
    this.point = options.point;
    this.#options = options;
  }

  static async open(options: MountOptions): Promise<FuseMount> {
    const mount = new FuseMount(options);
    mkdirSync(options.point, { recursive: true });
    await mount.mount();
    return mount;
  }

  async mount(): Promise<void> {
    const { server, bucket, log, flags = [] } = this.#options;
    const out = openSync(log, "a");
    const own = ["--foreground", "--anonymous-access", "--enable-hns=false", "--implicit-dirs"];
    // Without the path its listings fail; without --enable-hns=false it looks for another protocol.
    const endpoint = ["--custom-endpoint", `${server.url}/storage/v1/`];
    const child = spawn(gcsfuse.path, [...own, ...endpoint, ...flags, bucket, this.point], {
      stdio: ["ignore", out, out],
    });
    closeSync(out);
    this.#process = child;
    process.once("exit", this.#killAtExit);
    for (const until = Date.now() + mountedWithinMs; !this.#isMounted(); await sleep(20)) {
      if (child.exitCode === null && Date.now() < until) continue;
      throw new Error(`gcsfuse did not mount ${bucket}:\n${this.#said}`);
    }
    readdirSync(this.point);
  }

  /** Lines in which gcsfuse tells of a file that was opened by another while it was being written. */
  finishedEarly(): readonly string[] {
    return this.#said.split("\n").filter((line) => line.includes("legacy staged writes"));
  }

  /** SIGKILL: what is open is lost, and every call on the mount fails from now on. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await ended;
    }
    process.off("exit", this.#killAtExit);
    this.#process = undefined;
  }

  /** Takes the mount away, whatever still uses it. */
  async unmount(): Promise<void> {
    await this.kill();
    while (this.#isMounted()) spawnSync("umount", ["-l", this.point]);
  }

  readonly #killAtExit = (): void => {
    this.#process?.kill("SIGKILL");
    spawnSync("umount", ["-l", this.point]);
  };

  get #said(): string {
    return readFileSync(this.#options.log, "utf8");
  }

  #isMounted(): boolean {
    return readFileSync("/proc/self/mountinfo", "utf8").includes(` ${this.point} `);
  }
}
