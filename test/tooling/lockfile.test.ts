import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingEntries } from "../../tools/complete-lockfile.ts";

const path = join(import.meta.dirname, "../../package-lock.json");

test("the lock file lists the packages of every platform, so that npm ci takes it (else: npm run lock)", async () => {
  expect(missingEntries(JSON.parse(await readFile(path, "utf8")) as Parameters<typeof missingEntries>[0])).toEqual({});
});

test("the lock file names no registry", async () => {
  expect(await readFile(path, "utf8")).not.toContain('"resolved": "http');
});

test("what is missing gets its platform from its name", () => {
  const packages = { "node_modules/a": { dev: true, optionalDependencies: { "@a/linux-x64-musl": "1.0.0" } } };
  expect(missingEntries({ packages })).toEqual({
    "node_modules/@a/linux-x64-musl": {
      version: "1.0.0",
      os: ["linux"],
      cpu: ["x64"],
      libc: ["musl"],
      dev: true,
      optional: true,
    },
  });
});
