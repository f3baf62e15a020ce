import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the tests look for the versions that tools/test-servers.sh builds", () => {
  const script = read("tools/test-servers.sh");
  const built = new Map([...script.matchAll(/^(\w+)=(v?[\d.]+)$/gm)].map(([, name, version]) => [name, version]));
  const names = readdirSync(join(root, "test/servers")).filter((name) => name.endsWith(".ts"));
  const starters = names.map((name) => read(`test/servers/${name}`));
  const wanted = new Map(
    [...starters.join("\n").matchAll(/(?:builtServer\("([\w-]+)", "|testCache\("(moto)-)(v?[\d.]+)"/g)].map(
      ([, server, moto, version]) => [(server ?? moto ?? "").replace(/-server$/, "").replace("-", "_"), version],
    ),
  );
  expect(Object.fromEntries(wanted)).toEqual(Object.fromEntries(built));
  expect(wanted.size).toBeGreaterThanOrEqual(4);
});

test("CI builds them and installs what they need", () => {
  expect(read(".ci/run")).toContain("sh tools/test-servers.sh");
  expect(read("tools/ci/apt-packages.sh")).toMatch(/^\s+fuse3\b/m);
});
