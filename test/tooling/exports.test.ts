import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Values that each entry point of the package exports. A new one needs a line in CHANGELOG.md. */
async function exportedNames(): Promise<Record<string, string[]>> {
  const { exports } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const names: Record<string, string[]> = {};
  for (const [subpath, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    const source = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    names[subpath] = Object.keys((await import(join(root, source))) as object).sort();
  }
  return names;
}

test("every export is deliberate", async () => {
  expect(await exportedNames()).toMatchInlineSnapshot(`
    {
      ".": [
        "Deadline",
        "OutlastError",
        "createEndTimeSource",
        "createLogger",
        "createMetadataSource",
        "createSession",
        "createSignalSource",
        "createTransfer",
        "errorCodes",
        "exitCodes",
        "isOutlastError",
        "openStore",
        "supervise",
        "systemClock",
      ],
      "./batch": [
        "createWorker",
        "openQueue",
        "openQueueParts",
        "publish",
      ],
      "./checkpoint": [
        "checkRunName",
        "copyCheckpoints",
        "createSession",
        "createTransfer",
        "listCheckpoints",
        "listRuns",
        "openRun",
        "pinCheckpoint",
        "pruneCheckpoints",
        "pullCheckpoint",
        "readCommitHistory",
        "verifyCheckpoints",
      ],
      "./testing": [
        "FakeClock",
        "MemoryStore",
        "faultAt",
        "withFaults",
      ],
    }
  `);
});
