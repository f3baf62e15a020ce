import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

// Writes to a directory store and ends itself by SIGKILL just before the k-th file-system call. Without k it counts them.
const [folder = "", dieAt = "0"] = process.argv.slice(2);

let calls = 0;
function count(): void {
  calls += 1;
  if (calls === Number(dieAt)) process.kill(process.pid, "SIGKILL");
}
function counted(object: object, names: readonly string[]): void {
  const methods = object as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const original = methods[name];
    if (!original) throw new Error(`there is no ${name} to count`);
    methods[name] = function (this: unknown, ...args: unknown[]) {
      count();
      return original.apply(this, args);
    };
  }
}
const handle = await fs.promises.open(import.meta.filename, "r");
counted(Object.getPrototypeOf(handle) as object, ["write", "datasync", "sync", "stat"]);
await handle.close();
counted(fs.promises, ["open", "link", "rename", "unlink", "mkdir", "stat", "readdir"]);
syncBuiltinESMExports();

const { openStore } = await import("../../src/storage/index.ts");
const store = await openStore(folder, { access: "write" });
await store.putIfAbsent("new/folder/log-2", Buffer.alloc(600_000, 2));
await store.put("latest", Buffer.alloc(700_000, 3));
process.stdout.write(`${calls}\n`);
