import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { childProgram, endDrivers, startDriver } from "../support/driver.ts";
import { needs } from "../support/need.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const suite = join(import.meta.dirname, "../fixtures/test_outlast.py");
const helper = join(root, "python/outlast.py");

/** Every Python from 3.8 on that is found here, by version. */
const pythons = new Map<string, string>();
for (const path of ["/usr/bin/python3", "python3", ...pyenvPythons()]) {
  const asked = spawnSync(path, ["-c", "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"], {
    encoding: "utf8",
  });
  const [version = "", executable = ""] = asked.stdout?.trim().split(" ") ?? [];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (asked.status === 0 && (major > 3 || minor >= 8)) pythons.set(`${version} ${executable}`, executable);
}

function pyenvPythons(): readonly string[] {
  const versions = join(homedir(), ".pyenv/versions");
  return existsSync(versions)
    ? readdirSync(versions).map((name) => join(realpathSync(versions), name, "bin/python3"))
    : [];
}

afterAll(endDrivers);

describe.skipIf(!needs("python3 (3.8 or later)", pythons.size > 0, "apt-get install python3"))(
  "the Python helper",
  () => {
    for (const [version, python] of pythons) {
      test.concurrent(`passes its tests on ${version}`, async () => {
        const { stderr } = await run(python, ["-W", "error::SyntaxWarning", suite]);
        expect(stderr).toMatch(/^OK$/m);
      });
    }

    const [python = "python3"] = pythons.values();
    test.concurrent("is written in the syntax of Python 3.8", async () => {
      const code = "import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))";
      await expect(run(python, ["-c", code, helper])).resolves.toMatchObject({ stderr: "" });
    });

    test.concurrent("a program that uses it is told of the notice, saves, and is told apart from a finished one", async () => {
      const env = { ...process.env, PYTHONPATH: join(root, "python") };
      const driver = startDriver({
        command: [python, childProgram("with-helper.py")],
        session: { begin: { attempt: 2, resume: { step: 40, path: "/ckpt/40" } } },
        options: { env, graceMs: 4000 },
      });
      await driver.said("step 45");
      driver.kill("SIGTERM");
      const end = await driver.ended;
      expect(end.stdout).toContain("resumed from 40 /ckpt/40");
      expect(end.stdout).toMatch(/stopping with (1\.9|2\.0)/);
      const last = Number(/saved (\d+)/.exec(end.stdout)?.[1]);
      expect(end.report.calls).toContain(`childSaved /ckpt/${last} ${last}`);
      expect(end.report.result).toMatchObject({ exitCode: 75, childCode: 143, steps: { first: 41, last } });
    });

    test.concurrent("a program that says finished is finished, notice or not", async () => {
      const env = { ...process.env, PYTHONPATH: join(root, "python"), TOTAL: "43" };
      const driver = startDriver({
        command: [python, childProgram("with-helper.py")],
        session: { begin: { resume: { step: 40, path: "/ckpt/40" } } },
        options: { env, graceMs: 4000 },
      });
      await driver.said("all done");
      driver.kill("SIGTERM");
      expect((await driver.ended).report.result).toMatchObject({ verdict: "finished", exitCode: 0 });
    });
  },
);
