import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isOutlastError } from "../../src/core/index.ts";
import type { ObjectInfo, ObjectStore } from "../../src/storage/index.ts";

/** A store under test and how to be rid of it. */
export interface StoreUnderTest {
  readonly store: ObjectStore;
  /** Opens the same objects once more, as another process would; the same store where that cannot be. */
  readonly openAgain: () => Promise<ObjectStore>;
  readonly dispose: () => Promise<void>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array) => new TextDecoder().decode(body);

async function keysOf(listing: AsyncIterable<ObjectInfo>): Promise<string[]> {
  const keys: string[] = [];
  for await (const info of listing) keys.push(info.key);
  return keys;
}

/** The contract of `ObjectStore`: a backend is done when it passes this. */
export function describeObjectStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`object store contract: ${name}`, () => {
    let under: StoreUnderTest;
    let store: ObjectStore;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.dispose());

    it("gives back what was put, and the newer of two puts", async () => {
      await store.put("a/b.json", bytes("one"));
      expect(text(await store.get("a/b.json"))).toBe("one");
      await store.put("a/b.json", bytes("two!"));
      expect(text(await store.get("a/b.json"))).toBe("two!");
    });

    it("keeps a copy: changing the caller's bytes or the result changes nothing stored", async () => {
      const body = bytes("mine");
      await store.put("k", body);
      body.fill(0);
      (await store.get("k")).fill(1);
      expect(text(await store.get("k"))).toBe("mine");
    });

    it("creates only if absent, and leaves the first in place", async () => {
      expect(await store.putIfAbsent("log/1", bytes("first"))).toBe("created");
      expect(await store.putIfAbsent("log/1", bytes("second"))).toBe("exists");
      expect(text(await store.get("log/1"))).toBe("first");
    });

    it("lets exactly one of 16 racing creators win, and everybody then reads the winner's bytes", async () => {
      const other = await under.openAgain();
      for (let round = 0; round < 5; round += 1) {
        const key = `race/${round}`;
        const outcomes = await Promise.all(
          Array.from({ length: 16 }, (_, i) => (i % 2 ? store : other).putIfAbsent(key, bytes(`writer ${i}`))),
        );
        expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(1);
        expect(text(await other.get(key))).toBe(`writer ${outcomes.indexOf("created")}`);
      }
    });

    it("shows an object whole or not at all while it is being replaced", async () => {
      const size = 300_000;
      await store.put("whole", new Uint8Array(size).fill(0));
      const other = await under.openAgain();
      let isWriting = true;
      const writer = (async () => {
        for (let i = 1; i <= 12; i += 1) await store.put("whole", new Uint8Array(size + i).fill(i));
        isWriting = false;
      })();
      let reads = 0;
      while (isWriting) {
        const seen = await other.get("whole");
        const value = seen[0] ?? -1;
        expect(seen.length).toBe(size + value);
        expect(seen.every((byte) => byte === value)).toBe(true);
        reads += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writer;
      expect(reads).toBeGreaterThan(0);
    });

    it("sees a finished write from everywhere at once", async () => {
      const other = await under.openAgain();
      await store.put("seen/x", bytes("now"));
      expect(text(await other.get("seen/x"))).toBe("now");
      expect(await keysOf(other.list("seen/"))).toEqual(["seen/x"]);
      expect(await other.putIfAbsent("seen/x", bytes("late"))).toBe("exists");
    });

    it("reads ranges, cut at the object's end", async () => {
      await store.put("r", bytes("0123456789"));
      const read = async (offset: number, length: number) => text(await store.get("r", { range: { offset, length } }));
      expect(await read(0, 4)).toBe("0123");
      expect(await read(7, 3)).toBe("789");
      expect(await read(7, 100)).toBe("789");
      expect(await read(10, 5)).toBe("");
      expect(await read(3, 0)).toBe("");
    });

    it("reads into a given buffer and returns the filled part of it", async () => {
      await store.put("into", bytes("hello"));
      const buffer = new Uint8Array(16).fill(255);
      const result = await store.get("into", { into: buffer });
      expect(result.buffer).toBe(buffer.buffer);
      expect(text(result)).toBe("hello");
      expect(buffer[5]).toBe(255);
      expect(text(await store.get("into", { into: buffer, range: { offset: 1, length: 3 } }))).toBe("ell");
      await expect(store.get("into", { into: new Uint8Array(2) })).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
    });

    it("keeps every byte value, and empty objects", async () => {
      const all = Uint8Array.from({ length: 1024 }, (_, i) => i % 256);
      await store.put("binary", all);
      expect(Buffer.compare(await store.get("binary"), all)).toBe(0);
      await store.put("empty", new Uint8Array());
      expect((await store.get("empty")).length).toBe(0);
      expect(await store.putIfAbsent("empty", bytes("x"))).toBe("exists");
    });

    it("keeps an object of 20 MiB", async () => {
      const large = new Uint8Array(20 * 1024 * 1024);
      for (let i = 0; i < large.length; i += 4096) large[i] = (i / 4096) % 251;
      await store.put("large", large);
      expect(Buffer.compare(await store.get("large"), large)).toBe(0);
      const part = await store.get("large", { range: { offset: 4096 * 100, length: 1 } });
      expect(part[0]).toBe(100);
    });

    it("names the folders below a prefix, once each, however deep their objects lie", async () => {
      for (const key of ["b/x", "a/1/2/3", "a/1/2/4", "a/2", "top", "a-b/x", "a0/x"]) await store.put(key, bytes(key));
      const foldersOf = async (prefix: string) => {
        const names: string[] = [];
        for await (const name of store.folders(prefix)) names.push(name);
        return names;
      };
      expect(await foldersOf("")).toEqual(["a-b/", "a/", "a0/", "b/"]);
      expect(await foldersOf("a/")).toEqual(["1/"]);
      expect(await foldersOf("a/1/2/")).toEqual([]);
      expect(await foldersOf("none/")).toEqual([]);
      await store.delete("b/x");
      expect(await foldersOf("")).toEqual(["a-b/", "a/", "a0/"]);
    });

    it("lists in ascending order of keys, with sizes", async () => {
      // '-' and '.' sort before '/', digits after it: an order by folders would differ.
      const keys = ["a", "b-c/x", "b.c", "b/a", "b/a0", "b/b/c", "b/b-c", "b0", "b_", "B", "z/1"];
      for (const key of [...keys].reverse()) await store.put(key, bytes(key));
      const listed: ObjectInfo[] = [];
      for await (const info of store.list("")) listed.push(info);
      expect(listed.map((info) => info.key)).toEqual([...keys].sort());
      for (const info of listed) expect(info.size).toBe(info.key.length);
    });

    it("lists by prefix, whole folders or beginnings of names", async () => {
      for (const key of ["log/01", "log/02", "log/12", "logs/1", "lo", "steps/1"]) await store.put(key, bytes("x"));
      expect(await keysOf(store.list("log/"))).toEqual(["log/01", "log/02", "log/12"]);
      expect(await keysOf(store.list("log/0"))).toEqual(["log/01", "log/02"]);
      expect(await keysOf(store.list("log"))).toEqual(["log/01", "log/02", "log/12", "logs/1"]);
      expect(await keysOf(store.list("nothing/here/"))).toEqual([]);
      expect(await keysOf(store.list("log/01/"))).toEqual([]);
    });

    it("lists while objects come and go, never failing and never out of order", async () => {
      for (let i = 0; i < 200; i += 1) await store.put(`churn/${String(i).padStart(4, "0")}`, bytes("x"));
      let deleted = 0;
      const seen: string[] = [];
      for await (const info of store.list("churn/")) {
        seen.push(info.key);
        if (deleted < 200) {
          await store.delete(`churn/${String(199 - deleted).padStart(4, "0")}`);
          deleted += 1;
        }
      }
      expect(seen).toEqual([...new Set(seen)].sort());
      expect(seen.length).toBeGreaterThanOrEqual(100);
    });

    it("deletes, and deleting what is not there is no error", async () => {
      await store.put("gone/x", bytes("x"));
      await store.delete("gone/x");
      await store.delete("gone/x");
      await store.delete("never/was/there");
      expect(await keysOf(store.list("gone/"))).toEqual([]);
      expect(await store.putIfAbsent("gone/x", bytes("again"))).toBe("created");
    });

    it("says which object was not found", async () => {
      const error = await store.get("no/such").catch((reason: unknown) => reason);
      expect(isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")).toBe(true);
      expect(error).toMatchObject({ operation: "get", target: "no/such", recovery: "give-up" });
    });

    it("stops on an aborted signal and leaves nothing behind", async () => {
      const reason = new Error("deadline");
      const options = { signal: AbortSignal.abort(reason) };
      await expect(store.put("x", bytes("x"), options)).rejects.toBe(reason);
      await expect(store.putIfAbsent("x", bytes("x"), options)).rejects.toBe(reason);
      await expect(store.get("x", options)).rejects.toBe(reason);
      await expect(store.delete("x", options)).rejects.toBe(reason);
      expect(await keysOf(store.list(""))).toEqual([]);
      await store.put("y", bytes("y"));
      await expect(keysOf(store.list("", options))).rejects.toBe(reason);
    });

    it("a write cut off midway is whole or absent", async () => {
      const big = new Uint8Array(8 * 1024 * 1024).fill(7);
      for (let i = 0; i < 8; i += 1) {
        const controller = new AbortController();
        const work = store.put(`cut/${i}`, big, { signal: controller.signal }).catch(() => "aborted");
        for (let turn = 0; turn < i * 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        controller.abort();
        await work;
      }
      for await (const info of store.list("cut/")) {
        expect(info.size).toBe(big.length);
        expect(Buffer.compare(await store.get(info.key), big)).toBe(0);
      }
    });

    it.each([
      ["", "empty"],
      ["/a", "a leading slash"],
      ["a/", "a trailing slash"],
      ["a//b", "an empty segment"],
      ["../a", "a way out"],
      ["a/../../b", "a hidden way out"],
      ["a/./b", "a dot segment"],
      ["a b", "a space"],
      ["a\0b", "a null byte"],
      ["ä", "a letter beyond ASCII"],
      ["a\\b", "a backslash"],
      [".outlast-tmp/x", "the folder for unfinished files"],
      ["a".repeat(513), "too long a key"],
    ])("refuses %j as a key (%s)", async (key) => {
      for (const call of [
        () => store.put(key, bytes("x")),
        () => store.putIfAbsent(key, bytes("x")),
        () => store.get(key),
        () => store.delete(key),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
      }
    });

    it("takes every character a key may have, up to 512 bytes", async () => {
      const key = `${"A".repeat(200)}/${"z".repeat(200)}/.hidden/..two/0-9_.${"x".repeat(512 - 421)}`;
      expect(key.length).toBe(512);
      await store.put(key, bytes("long"));
      expect(text(await store.get(key))).toBe("long");
      expect(await keysOf(store.list("A"))).toEqual([key]);
    });

    it.each(["../", "a//", "/", ".outlast-tmp/", "a/../b"])("refuses to list by %j", async (prefix) => {
      await expect(keysOf(store.list(prefix))).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
    });
  });
}
