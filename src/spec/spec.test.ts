import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isOutlastError } from "../core/index.ts";
import { childVariables, refuseUnknownVariables } from "./environment.ts";
import { loadSpecFile } from "./file.ts";
import { readChoice, readCount, readDuration, readFlag, readShard, readSignal } from "./readers.ts";
import { resolveSettings, type Sources } from "./resolve.ts";
import { checkRules } from "./rules.ts";
import { deriveRunName, readRunName } from "./run-name.ts";
import { type Setting, type SettingName, settings, variableOf } from "./settings.ts";
import { suggest } from "./suggest.ts";

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isOutlastError(error)) return `${error.code}: ${error.message} (${error.hint ?? ""})`;
    throw error;
  }
  throw new Error("nothing was refused");
}

const nothing: Sources = { flags: {}, env: {}, file: {} };

describe("order of sources", () => {
  const names: readonly SettingName[] = ["grace"];
  const file = { grace: "20s" };
  const env = { OUTLAST_GRACE: "30s" };
  const flags = { grace: "40s" };

  test.each([
    ["default", nothing, 15_000],
    ["outlast.yaml", { ...nothing, file }, 20_000],
    ["OUTLAST_GRACE", { ...nothing, file, env }, 30_000],
    ["flag", { flags, file, env }, 40_000],
  ])("%s wins over what is below it", (from, sources, grace) => {
    const resolved = resolveSettings(names, sources);
    expect(resolved.values.grace).toBe(grace);
    expect(resolved.origins).toEqual([expect.objectContaining({ name: "grace", from })]);
  });

  test("an empty variable is as good as none", () => {
    expect(resolveSettings(names, { ...nothing, env: { OUTLAST_GRACE: "" } }).values.grace).toBe(15_000);
  });

  test("a value that loses is not read, so that a flag can overrule a broken file", () => {
    expect(resolveSettings(names, { ...nothing, flags, file: { grace: "nonsense" } }).values.grace).toBe(40_000);
  });

  test("lists come one value a line from a variable", () => {
    const env = { OUTLAST_IGNORE: "logs/**\n*.{tmp,part}\n" };
    expect(resolveSettings(["ignore"], { ...nothing, env }).values.ignore).toEqual(["logs/**", "*.{tmp,part}"]);
  });

  test("every fault is told at once", () => {
    const flags = { grace: "soon", keep: "many", stopSignal: "KILL" };
    const told = refusal(() => resolveSettings(["grace", "keep", "stopSignal"], { ...nothing, flags }));
    expect(told).toContain('--grace "soon"');
    expect(told).toContain('--keep "many"');
    expect(told).toContain('--stop-signal "KILL"');
  });

  test("inside a run, OUTLAST_RUN names the parent and is not taken", () => {
    const env = { OUTLAST_RUN: "parent" };
    expect(resolveSettings(["run"], { ...nothing, env }).values.run).toBe("parent");
    expect(resolveSettings(["run"], { ...nothing, env: { ...env, OUTLAST_ATTEMPT: "1" } }).values.run).toBeUndefined();
  });
});

describe("variables", () => {
  test("an unknown one is refused with a suggestion", () => {
    expect(refusal(() => refuseUnknownVariables({ OUTLAST_STOER: "x" }))).toBe(
      "OUTLAST_CONFIG: unknown variable OUTLAST_STOER (did you mean OUTLAST_STORE?)",
    );
  });

  test("what we set ourselves, and what Kubernetes sets for a Service called outlast, is let through", () => {
    const services = [
      "OUTLAST_SERVICE_HOST",
      "OUTLAST_SERVICE_PORT_HTTP",
      "OUTLAST_PORT",
      "OUTLAST_PORT_80_TCP",
      "OUTLAST_DASH_PORT_8080_TCP_ADDR",
    ];
    const names = [...childVariables, ...services, "OUTLAST_SOAK", "OUTLAST_NO_SKIP", "HOME"];
    expect(() => refuseUnknownVariables(Object.fromEntries(names.map((name) => [name, "1"])))).not.toThrow();
  });

  test("no two settings share a variable or a key; a flag may mean another thing in another command", () => {
    const all = Object.entries(settings) as [SettingName, Setting<unknown>][];
    for (const spelling of [
      all.flatMap(([name]) => variableOf(name) ?? []),
      all.flatMap(([, { file }]) => file ?? []),
    ]) {
      expect(new Set(spelling).size).toBe(spelling.length);
    }
  });

  test("every default can be read", () => {
    const all = Object.entries(settings) as [SettingName, Setting<unknown>][];
    const read = all.flatMap(([name, setting]) => (setting.default ? [setting.read(setting.default, name)] : []));
    expect(read.length).toBeGreaterThan(5);
  });
});

describe("pairs", () => {
  test.each([
    [{ shard: { index: 0, of: 2 }, perIndex: true }, "--shard and --per-index cannot be given together"],
    [{ again: true, restoreOnly: true }, "--again and --restore-only cannot be given together"],
    [{ endsAt: "5h", endsAtFile: "/etc/pod/annotations" }, "--ends-at and --ends-at-file cannot be given together"],
  ])("%j is refused", (values, message) => {
    expect(refusal(() => checkRules(values, []))).toContain(message);
  });

  test("a switch that is off contradicts nothing", () => {
    expect(() => checkRules({ shard: { index: 0, of: 2 }, perIndex: false }, [])).not.toThrow();
  });

  test("what is missing is named with what it means", () => {
    expect(refusal(() => checkRules({}, ["store", "dir"]))).toMatch(
      /missing --store URL\|PATH and --dir DIR .*where checkpoints/,
    );
  });
});

describe("readers", () => {
  test.each([
    ["0/1", { index: 0, of: 1 }],
    ["3/4", { index: 3, of: 4 }],
  ])("shard %s", (text, shard) => expect(readShard(text, "--shard")).toEqual(shard));

  test.each(["4/4", "-1/4", "1", "0/0", "a/b", "1/4/2", ""])("shard %j is refused", (text) =>
    expect(refusal(() => readShard(text, "--shard"))).toContain("is not a shard"),
  );

  test.each(["TERM", "SIGTERM", "term", "15"])("signal %s is SIGTERM", (text) =>
    expect(readSignal(text, "--stop-signal")).toBe("SIGTERM"),
  );

  test.each(["KILL", "9", "STOP", "TREM", ""])("signal %j is refused", (text) =>
    expect(refusal(() => readSignal(text, "--stop-signal"))).toContain("OUTLAST_USAGE"),
  );

  test("numbers, choices, switches and times outside their bounds are refused", () => {
    expect(refusal(() => readCount(1)("0", "--keep"))).toContain("of at least 1");
    expect(refusal(() => readCount(0, 255)("256", "--exit-on-eviction"))).toContain("from 0 to 255");
    expect(refusal(() => readCount(0)("1.5", "--step"))).toContain("whole number");
    expect(refusal(() => readDuration(2000)("1s", "--grace"))).toContain("at least 2s");
    expect(refusal(() => readChoice(["json", "pretty"])("jsno", "--log-format"))).toContain("did you mean json?");
    expect(refusal(() => readFlag("maybe", "OUTLAST_PER_INDEX"))).toContain("yes or no");
  });
});

describe("run names", () => {
  test.each(["bert", "a", "0", "Llama-3.1_8b", "x".repeat(100)])("%s is a name", (name) =>
    expect(readRunName(name, "--run")).toBe(name),
  );

  test.each(["a/b", "../x", ".hidden", "", "a b", "x".repeat(101), "ünïcode", "-x", "a\n"])("%j is refused", (name) =>
    expect(refusal(() => readRunName(name, "--run"))).toContain("is not a name for a run"),
  );

  test("the derived name depends on directory and command only, and is a valid name", () => {
    const name = deriveRunName("out/ckpt", ["python", "train.py"], "/home/me");
    expect(deriveRunName("/home/me/out/ckpt/", ["python", "train.py"], "/")).toBe(name);
    expect(name).toMatch(/^ckpt-[0-9a-f]{10}$/);
    expect(deriveRunName("out/ckpt", ["python", "train.py", "--lr=1"], "/home/me")).not.toBe(name);
    expect(deriveRunName("out/other", ["python", "train.py"], "/home/me")).not.toBe(name);
    for (const dir of ["/", "/tmp/ü ü", "/tmp/..x", `/tmp/${"long".repeat(60)}`]) {
      expect(() => readRunName(deriveRunName(dir, ["a"], "/"), "")).not.toThrow();
    }
  });
});

describe("outlast.yaml", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "outlast-spec-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const load = async (text: string) => {
    await writeFile(join(dir, "outlast.yaml"), text);
    return loadSpecFile(dir);
  };

  test("is not needed", async () => {
    expect(await loadSpecFile(dir)).toEqual({ path: undefined, settings: {} });
  });

  test("must be there when named", async () => {
    await expect(loadSpecFile(dir, "other.yaml")).rejects.toThrow(/cannot read other\.yaml/);
  });

  test("gives values as a user would write them", async () => {
    const text =
      "store: /mnt/store\nrun:\n  name: bert\n  keep: 5\n  perIndex: true\n  ignore: ['*.log', 'tmp/**']\nlog:\n";
    expect((await load(text)).settings).toEqual({
      store: "/mnt/store",
      run: "bert",
      keep: "5",
      perIndex: "true",
      ignore: ["*.log", "tmp/**"],
    });
  });

  test("an empty file says nothing", async () => {
    expect((await load("# nothing yet\n")).settings).toEqual({});
  });

  test.each([
    ["run:\n  graec: 10s\n", "unknown key run.graec", "did you mean run.grace?"],
    ["grace: 10s\n", "unknown key grace", "did you mean run.grace?"],
    ["run: [1, 2]\n", "run: ", undefined],
    ["run:\n  perIndex: sometimes\n", "run.perIndex: ", undefined],
    ["store: [a\n", "is not valid YAML", undefined],
    ["just text\n", "the file: ", undefined],
  ])("%j is refused", async (text, message, hint) => {
    const error: unknown = await load(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "OUTLAST_CONFIG", message: expect.stringContaining(message) as string });
    expect((error as { hint: string }).hint).toContain(hint ?? "");
  });
});

test("suggestions are near misses only", () => {
  expect(suggest("--stroe", ["--store", "--step"])).toBe("--store");
  expect(suggest("--completely-other", ["--store", "--step"])).toBeUndefined();
});
