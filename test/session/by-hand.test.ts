import { execFileSync, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/storage/index.ts";
import { needs } from "../support/need.ts";
import { load, remove, tempDir, trainOn } from "./support.ts";

const has = (tool: string) => spawnSync(tool, ["--version"]).status === 0;
const tools = needs("jq and b3sum", has("jq") && has("b3sum"), "apt-get install jq b3sum");

let dir: string;
let storeDir: string;

beforeEach(async () => {
  dir = await tempDir();
  storeDir = await tempDir();
});

afterEach(() => remove(dir, storeDir));

describe.skipIf(!tools)("a run", () => {
  it("is restored with standard tools and the commands of docs/reference/format.md alone", async () => {
    const store = await openStore(storeDir, { access: "write" });
    await trainOn(store, dir, [10, 20]);
    const page = await readFile(new URL("../../docs/reference/format.md", import.meta.url), "utf8");
    const script = page.split("## Restoring by hand")[1]?.match(/```sh\n([\s\S]*?)```/)?.[1] ?? "";
    const [, find = "", rest = ""] = /cd STORE\/RUN\n(jq[\s\S]*?)\n(jq[\s\S]*)/.exec(script) ?? [];
    const run = join(storeDir, "r");
    const sh = (text: string) => execFileSync("bash", ["-euo", "pipefail", "-c", text], { cwd: run, encoding: "utf8" });
    const found = sh(find).trim();
    await writeFile(join(storeDir, "sums"), `${found}\n`);
    sh(`b3sum --check ${join(storeDir, "sums")}`);
    sh(rest.replaceAll("MANIFEST", found.split("  ")[1] ?? ""));
    expect(await load(join(run, "out"), 20)).toBe("weights of 20");
  });
});
