import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BenchCase } from "../case.ts";
import { interleave, median } from "../harness.ts";

const barMs = 150;

/** From the command to the child, with nothing to restore; the peer is the CLI's own start-up (`--version`). */
export const benchCase: BenchCase = {
  name: "start-up",
  async run({ build, rounds, workspace, note }) {
    const cli = join(build, "cli/main.js");
    const [dir, store] = [join(workspace.folder, "dir"), join(workspace.folder, "store")];
    const prepare = () => {
      for (const path of [dir, store]) rmSync(path, { recursive: true, force: true });
      mkdirSync(dir);
      return Promise.resolve();
    };
    // Both print the time at their end of interest by the same clock.
    const timed = (args: readonly string[]) => {
      const began = Date.now();
      const output = execFileSync(process.execPath, [cli, ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
      return { began, output, ended: Date.now() };
    };
    const run = ["run", "--store", store, "--dir", dir, "--run", "bench", "--", "date", "+%s%3N"];
    const results = await interleave(
      [
        {
          name: "run",
          prepare,
          run: () => {
            const { began, output } = timed(run);
            return Promise.resolve(Number(output) - began);
          },
        },
        {
          name: "version",
          prepare,
          run: () => {
            const { began, ended } = timed(["--version"]);
            return Promise.resolve(ended - began);
          },
        },
      ],
      Math.max(rounds, 7),
      note,
    );
    const ours = median(results.get("run") ?? []);
    const own = median(results.get("version") ?? []);
    return [
      {
        name: "child started after",
        ours: `${Math.round(ours)} ms`,
        peer: `${Math.round(own)} ms (outlast --version)`,
        result: `${Math.round(ours - own)} ms`,
        bar: `≤ ${barMs} ms`,
        isMet: ours - own <= barMs,
      },
    ];
  },
};
