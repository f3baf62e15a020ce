import { spawn } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../index.ts";
import { openFileStore } from "./index.ts";

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-file-store-"));
  root = join(folder, "store");
});
afterEach(async () => {
  await chmod(root, 0o755).catch(() => {});
  await rm(folder, { recursive: true, force: true });
});

const body = Buffer.from("body");
const asides = () => readdir(join(root, ".outlast-tmp"));
const fails =
  (code: string): (() => Promise<never>) =>
  () =>
    Promise.reject(Object.assign(new Error(code), { code }));

async function listAll(location: string): Promise<{ key: string; size: number }[]> {
  const found: { key: string; size: number }[] = [];
  for await (const info of (await openStore(location, { access: "read" })).list("")) found.push(info);
  return found;
}

function runWriter(at: string, dieAt: number): Promise<{ signal: string | null; output: string }> {
  const file = fileURLToPath(new URL("../../../test/conformance/dying-writer.ts", import.meta.url));
  const child = spawn(process.execPath, [file, at, String(dieAt)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data: Buffer) => {
    output += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (_, signal) => resolve({ signal, output }));
  });
}

describe("a directory store", () => {
  it("has every object whole or absent, whichever file-system call its writer dies at", {
    timeout: 120_000,
  }, async () => {
    const prepare = async (at: string) => {
      const store = await openStore(at, { access: "write" });
      await store.put("log-1", Buffer.alloc(500_000, 1));
      await store.put("latest", Buffer.alloc(500_000, 1));
    };
    await prepare(root);
    const calls = Number((await runWriter(root, 0)).output);
    expect(calls).toBeGreaterThan(20);
    const seen = new Set<string>();
    const dieAt = async (call: number): Promise<void> => {
      const at = join(folder, `store-${call}`);
      await prepare(at);
      expect(await runWriter(at, call)).toEqual({ signal: "SIGKILL", output: "" });
      const store = await openStore(at, { access: "write" });
      const found = await listAll(at);
      for (const { key } of found) {
        const bytes = await store.get(key);
        const value = bytes[0] ?? 0;
        expect({ key, size: bytes.length }).toEqual({ key, size: 400_000 + value * 100_000 });
        expect(bytes.every((byte) => byte === value)).toBe(true);
      }
      seen.add(found.map(({ key, size }) => `${key}=${size}`).join(" "));
      // The store stays usable: what was begun can be done again.
      const outcome = await store.putIfAbsent("new/folder/log-2", Buffer.alloc(600_000, 2));
      expect(outcome).toBe(found.some(({ key }) => key === "new/folder/log-2") ? "exists" : "created");
    };
    for (let first = 1; first <= calls; first += 4) {
      const last = Math.min(calls, first + 3);
      await Promise.all(Array.from({ length: last - first + 1 }, (_, i) => dieAt(first + i)));
    }
    expect(seen).toEqual(
      new Set([
        "latest=500000 log-1=500000",
        "latest=500000 log-1=500000 new/folder/log-2=600000",
        "latest=700000 log-1=500000 new/folder/log-2=600000",
      ]),
    );
  });

  it("leaves no aside files behind when all goes well", async () => {
    const store = await openStore(root, { access: "write" });
    await store.put("a", body);
    await store.putIfAbsent("a", body);
    await store.putIfAbsent("b", body);
    expect(await asides()).toEqual([]);
  });

  it("sweeps aside files over a day old by the file system's clock, and no others", async () => {
    await openStore(root, { access: "write" });
    const names = { old: 25, young: 23, future: -48 };
    for (const [name, hours] of Object.entries(names)) {
      const path = join(root, ".outlast-tmp", name);
      await writeFile(path, "left over");
      const at = Date.now() / 1000 - hours * 3600;
      await utimes(path, at, at);
    }
    await openStore(root, { access: "write" });
    expect((await asides()).sort()).toEqual(["future", "young"]);
  });

  it("fails a put whose aside file was swept, in a way that says: try again", async () => {
    let swept = 0;
    const store = await openFileStore("x", root, {
      access: "write",
      link: async (from, to) => {
        if (to.endsWith("/log/1") && swept++ === 0) await rm(from);
        await link(from, to);
      },
    });
    await expect(store.putIfAbsent("log/1", body)).rejects.toMatchObject({ recovery: "retry" });
    expect(await store.putIfAbsent("log/1", body)).toBe("created");
  });

  it("counts a link as its own when the reply was lost, whatever error came instead", async () => {
    for (const code of ["EEXIST", "EIO"]) {
      const store = await openFileStore("x", root, {
        access: "write",
        link: async (from, to) => {
          await link(from, to);
          if (to.endsWith(code)) throw Object.assign(new Error(code), { code });
        },
      });
      expect(await store.putIfAbsent(`log/${code}`, body)).toBe("created");
      expect(await store.putIfAbsent(`log/${code}`, body)).toBe("exists");
    }
  });

  it.each(["EPERM", "ENOTSUP", "ENOSYS"])("refuses a file system without links (%s)", async (code) => {
    const work = openFileStore("x", root, { access: "write", link: fails(code) });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE", exitCode: 2 });
    expect(await asides()).toEqual([]);
  });

  it("refuses a file system that lets a name be created twice", async () => {
    const work = openFileStore("x", root, { access: "write", link: () => Promise.resolve() });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
  });

  it("refuses a bucket mounted by gcsfuse and names what to use instead", async () => {
    const mountinfo = join(folder, "mountinfo");
    await writeFile(mountinfo, `1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / ${folder} rw - fuse.gcsfuse bucket rw\n`);
    for (const access of ["read", "write"] as const) {
      const nested = join(folder, "not", "there", "yet");
      const work = openFileStore("x", nested, { access, mountinfo });
      await expect(work).rejects.toMatchObject({
        code: "OUTLAST_STORE_UNSUITABLE",
        hint: expect.stringContaining("--store gs://bucket/not/there/yet (") as string,
      });
      expect(await readdir(folder)).not.toContain("not");
    }
  });

  it("creates its own folder but not the parents", async () => {
    await openStore(root, { access: "write" });
    expect((await stat(root)).isDirectory()).toBe(true);
    await expect(openStore(join(folder, "typo", "store"), { access: "write" })).rejects.toMatchObject({
      code: "OUTLAST_DIR_MISSING",
      target: join(folder, "typo"),
    });
    expect(await readdir(folder)).toEqual(["store"]);
  });

  it("refuses a file as the store", async () => {
    await writeFile(root, "");
    await expect(openStore(root, { access: "write" })).rejects.toMatchObject({ code: "OUTLAST_STORE_UNSUITABLE" });
  });

  it("reads without write permission, creating nothing", async () => {
    await (await openStore(root, { access: "write" })).put("a/b", body);
    await rm(join(root, ".outlast-tmp"), { recursive: true });
    await chmod(root, 0o555);
    expect(await listAll(root)).toEqual([{ key: "a/b", size: 4 }]);
    const store = await openStore(root, { access: "read" });
    await expect(store.put("x", body)).rejects.toMatchObject({ code: "OUTLAST_STORE_NOT_WRITABLE" });
    await expect(store.delete("a/b")).rejects.toMatchObject({ code: "OUTLAST_STORE_NOT_WRITABLE" });
    expect(await readdir(root)).toEqual(["a"]);
  });

  it("says so when a store to be read is not there", async () => {
    await expect(openStore(root, { access: "read" })).rejects.toMatchObject({ code: "OUTLAST_DIR_MISSING" });
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses a folder it may not write to", async () => {
    await mkdir(root, { mode: 0o555 });
    await chmod(folder, 0o755);
    const nobody = 65534;
    // Root may write anywhere; as root, become somebody else for this one call.
    if (process.getuid?.() === 0) process.seteuid?.(nobody);
    try {
      await expect(openStore(root, { access: "write" })).rejects.toMatchObject({ code: "OUTLAST_STORE_NOT_WRITABLE" });
    } finally {
      if (process.getuid?.() === 0) process.seteuid?.(0);
    }
  });

  it("lists only objects: no aside files, foreign names, or what NFS keeps of deleted files", async () => {
    const store = await openStore(root, { access: "write" });
    await store.put("a", body);
    await mkdir(join(root, "lost+found"));
    await writeFile(join(root, "with space"), "");
    await writeFile(join(root, ".nfs000000000000beef00000001"), "");
    await writeFile(join(root, ".outlast-tmp", "unfinished"), "");
    expect(await listAll(root)).toEqual([{ key: "a", size: 4 }]);
  });

  it("goes on when its folders are tidied away behind its back", async () => {
    const store = await openStore(root, { access: "write" });
    await store.put("chunks/ab/x", body);
    await rm(join(root, "chunks"), { recursive: true });
    await rm(join(root, ".outlast-tmp"), { recursive: true });
    await store.put("chunks/ab/y", body);
    expect(await listAll(root)).toEqual([{ key: "chunks/ab/y", size: 4 }]);
  });

  it("opens by file: URL, and says what it does not know", async () => {
    await (await openStore(`file://${root}`, { access: "write" })).put("a", body);
    expect(await listAll(`file:${root}`)).toEqual([{ key: "a", size: 4 }]);
    for (const location of ["gs://", "s3://Not-A-Bucket", "http://host/x", "file://other-host/x", ""]) {
      await expect(openStore(location, { access: "read" })).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
    }
  });
});
