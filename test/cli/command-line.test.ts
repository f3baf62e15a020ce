import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commonFlags } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { childVariables, settings } from "../../src/spec/index.ts";
import { childEnvironment } from "../../src/supervisor/environment.ts";
import { runOutlast } from "../support/run-outlast.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outlast-cli-"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Exit code and everything on standard error; standard output must stay empty. */
async function refusal(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runOutlast(args, { env, cwd });
  expect(stdout).toBe("");
  return `${code}\n${stderr}`;
}

test("no command has two settings of one flag", () => {
  for (const command of commands) {
    const flags = [...command.flags, ...commonFlags].map((name) => settings[name].flag);
    expect(new Set(flags).size, command.name).toBe(flags.length);
  }
});

describe("help and version", () => {
  test("the list of commands", async () => {
    const { code, stdout, stderr } = await runOutlast(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatchInlineSnapshot(`
      "Usage: outlast [options] [command]

      AI work that survives the capacity it runs on being taken away.

      Options:
        -V, --version       print the version
        -h, --help          show help

      Commands:
        demo [options]      train a small model on this machine, evict it again and again, and compare the
                            result
        run [options]       supervise a training program: restore, start, ship checkpoints, stop well
        status [options]    attempts, commits, lost work and where the time went
        checkpoints         look after a run's checkpoints
        publish [options]   turn a dataset into items of a queue, each once however often it is run
        work [options]      a worker: pull items, skip what is done, handle, store, ack
        queue               look after a queue
        plan [options]      Spot, flex-start, on-demand or a mix: cost, finish, interval, break-even
        init [options]      write a commented outlast.yaml
        manifest [options]  turn outlast.yaml into Kubernetes objects, node-pool commands and Terraform
        lint [options]      find what will break under eviction, before it is applied
        config              look at the configuration
        help [command...]   show help for a command

      Flags may also come from outlast.yaml and OUTLAST_* variables: defaults < file < environment < flags.
      "
    `);
  });

  test("help is the same by flag and by command", async () => {
    const byFlag = await runOutlast(["checkpoints", "pull", "--help"]);
    expect(await runOutlast(["help", "checkpoints", "pull"])).toEqual(byFlag);
    expect(byFlag.stdout).toMatchInlineSnapshot(`
      "Usage: outlast checkpoints pull [options]

      Fetches the newest good checkpoint (or the one of --step) into --to and verifies every byte on the
      way. Never touches the run itself.

      Options:
        --store <URL|PATH>               where checkpoints are kept: gs://BUCKET/PREFIX,
                                         s3://BUCKET/PREFIX, or a directory that outlives this machine
        --run <NAME>                     the run's name in the store; \`outlast run\` derives one from --dir
                                         and the command when it is left out
        --step <N>                       the checkpoint of this step
        --to <DIR>                       the directory to write to
        --json                           one JSON object on standard output
        --no-progress                    no progress on standard error
        --config <FILE>                  the file to read instead of ./outlast.yaml
        --log-format <auto|json|pretty>  how log lines look; auto: readable on a terminal, JSON lines
                                         elsewhere (default auto)
        --log-level <LEVEL>              the least severity that is logged: debug, info, warning or error
                                         (default info)
        -h, --help                       show help

      Examples:
        # Get the newest one
        outlast checkpoints pull --store /mnt/store --run bert --to ./model

      Variables: OUTLAST_STORE OUTLAST_RUN OUTLAST_NO_PROGRESS OUTLAST_CONFIG OUTLAST_LOG_FORMAT OUTLAST_LOG_LEVEL
      "
    `);
  });

  test("the version is the package's", async () => {
    expect((await runOutlast(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("wrong usage ends with 2, one error and a hint", () => {
  test("no command", async () =>
    expect(await refusal([])).toMatchInlineSnapshot(`
    "2
    error: no command was given

    hint: try outlast demo, or see outlast --help
    "
  `));
  test("an unknown command", async () =>
    expect(await refusal(["statsu"])).toMatchInlineSnapshot(`
    "2
    error: unknown command "statsu"

    hint: did you mean "outlast status"?
    "
  `));
  test("half a command", async () =>
    expect(await refusal(["checkpoints"])).toMatchInlineSnapshot(`
      "2
      error: "outlast checkpoints" needs one more word

      hint: one of list, verify, pull, prune, pin, unpin, copy
      "
    `));
  test("an unknown second word", async () =>
    expect(await refusal(["checkpoints", "lits"])).toMatchInlineSnapshot(`
    "2
    error: unknown command "checkpoints lits"

    hint: did you mean "outlast checkpoints list"?
    "
  `));
  test("an unknown flag", async () =>
    expect(await refusal(["run", "--stroe", "x", "--", "true"])).toMatchInlineSnapshot(`
      "2
      error: unknown flag --stroe of "outlast run"

      hint: did you mean --store?
      "
    `));
  test("a flag without its value", async () =>
    expect(await refusal(["run", "--dir", "--", "true"])).toMatchInlineSnapshot(`
      "2
      error: flag --dir needs a value

      hint: write --dir DIR
      "
    `));
  test("missing flags", async () =>
    expect(await refusal(["run", "--", "true"])).toMatchInlineSnapshot(`
    "2
    error: missing --store URL|PATH and --dir DIR

    hint: --store URL|PATH: where checkpoints are kept: gs://BUCKET/PREFIX, s3://BUCKET/PREFIX, or a directory that outlives this machine; --dir DIR: the directory the program writes its checkpoints to
    "
  `));
  test("no program", async () =>
    expect(await refusal(["run", "--store", "s", "--dir", "d"])).toMatchInlineSnapshot(`
    "2
    error: "outlast run" got no program to run

    hint: put it after two dashes: outlast run … -- python train.py
    "
  `));
  test("a program without its dashes", async () =>
    expect(await refusal(["run", "--store", "s", "--dir", "d", "python", "train.py"])).toMatchInlineSnapshot(`
      "2
      error: unexpected argument "python"

      hint: put two dashes before the program: outlast run … -- python train.py
      "
    `));
  test("something after -- where nothing belongs", async () =>
    expect(await refusal(["status", "--store", "s", "--", "x"])).toMatchInlineSnapshot(`
      "2
      error: "outlast status" takes nothing after "--"

      hint: leave "-- x" out
      "
    `));
  test("wrong values, all at once", async () =>
    expect(
      await refusal(["run", "--store", "s", "--dir", "d", "--run", "a/b", "--shard", "4/4", "--", "true"]),
    ).toMatchInlineSnapshot(`
      "2
      error: 2 settings are wrong:
        --run "a/b" is not a name for a run
        --shard "4/4" is not a shard

      hint: use letters, digits, ".", "_" and "-", beginning with a letter or digit, at most 100 of them; the store's own path goes into --store; write i/n with i from 0 to n-1, such as 0/4
      "
    `));
  test("an illegal pair", async () =>
    expect(
      await refusal(["run", "--store", "s", "--dir", "d", "--shard", "0/2", "--per-index", "--", "true"]),
    ).toMatchInlineSnapshot(`
      "2
      error: --shard and --per-index cannot be given together

      hint: pods are either shards of one run or independent runs; leave one of them out
      "
    `));
  test("an unknown variable", async () =>
    expect(await refusal(["config", "explain"], { OUTLAST_GARCE: "3s" })).toMatchInlineSnapshot(`
      "2
      error: unknown variable OUTLAST_GARCE

      hint: did you mean OUTLAST_GRACE?
      "
    `));
  test("a wrong value in a variable", async () =>
    expect(await refusal(["config", "explain"], { OUTLAST_GRACE: "long" })).toMatchInlineSnapshot(`
      "2
      error: OUTLAST_GRACE "long" is not a length of time

      hint: write a number and a unit, such as 15s, 500ms, 2m or 1h30m
      "
    `));
  test("an unreadable file", async () =>
    expect(await refusal(["config", "explain", "--config", "nowhere.yaml"])).toMatchInlineSnapshot(`
      "2
      error: cannot read nowhere.yaml: there is no such file

      hint: check the path and its permissions
      "
    `));
  test("the same as JSON, on standard error", async () => {
    const { code, stdout, stderr } = await runOutlast(["status", "--json"], { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr)).toMatchInlineSnapshot(`
      {
        "error": {
          "code": "OUTLAST_USAGE",
          "exitCode": 2,
          "hint": "--store URL|PATH: where checkpoints are kept: gs://BUCKET/PREFIX, s3://BUCKET/PREFIX, or a directory that outlives this machine",
          "message": "missing --store URL|PATH",
        },
        "schema": 1,
      }
    `);
  });
  test("--json of the program is not ours", async () =>
    expect(await refusal(["run", "--store", "s", "--", "prog", "--json"])).toMatch(/^2\nerror: missing --dir DIR/));
});

test("a nested outlast does not choke on what its parent set", async () => {
  const env = childEnvironment(
    {},
    {
      run: "outer",
      attempt: 1,
      role: "0/1",
      checkpointDir: "/c",
      resumeStep: 1,
      resumePath: "/c/1",
      socketPath: "/s",
      saveIntervalMs: 1,
      saveIntervalSteps: 1,
    },
  );
  expect(Object.keys(env).sort()).toEqual([...childVariables].sort());
  const { code, stdout } = await runOutlast(["config", "explain", "--json"], { env, cwd });
  expect(code).toBe(0);
  expect(stdout).not.toContain("outer");
});

test("config explain tells each value's origin", async () => {
  const dir = await mkdtemp(join(tmpdir(), "outlast-cli-"));
  await writeFile(join(dir, "outlast.yaml"), "store: /mnt/store\nrun:\n  name: bert\n  grace: 60s\n  keep: 9\n");
  const { stdout } = await runOutlast(["config", "explain", "--keep", "4"], {
    cwd: dir,
    env: { OUTLAST_GRACE: "30s" },
  });
  await rm(dir, { recursive: true });
  expect(stdout).toMatchInlineSnapshot(`
    "SETTING           VALUE       FROM
    store             /mnt/store  outlast.yaml
    run               bert        outlast.yaml
    grace             30s         OUTLAST_GRACE
    keep              4           flag
    stop-signal       TERM        default
    stop-scope        main        default
    exit-on-eviction  75          default
    notice            auto        default
    log-format        auto        default
    log-level         info        default
    dir               -           not set
    shard             -           not set
    per-index         -           not set
    restore-only      -           not set
    again             -           not set
    finished-when     -           not set
    ends-at           -           not set
    ends-at-file      -           not set
    complete-when     -           not set
    ignore            -           not set
    region            -           not set
    max-rate          -           not set
    no-progress       -           not set
    "
  `);
});
