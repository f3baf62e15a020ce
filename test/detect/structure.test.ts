import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createReadSmall } from "../../src/checkpoint/detect/read-small.ts";
import { scanDirectory } from "../../src/checkpoint/detect/scan.ts";
import { checkStructure } from "../../src/checkpoint/detect/structure.ts";
import { contentFor } from "./contents.ts";
import { temporaryDirectory } from "./support.ts";

async function verdictOf(name: string, content: Uint8Array | string): Promise<string> {
  const root = temporaryDirectory();
  writeFileSync(join(root, name), content);
  const entry = (await scanDirectory(root)).entries.get(name);
  if (!entry) throw new Error("not there");
  return (await checkStructure(entry, createReadSmall(root))).verdict;
}

describe.each(["m.safetensors", "m.pt", "m.pth", "m.ckpt", "m.bin", "m.npz", "m.keras", "m.json", "m.npy"])(
  "%s",
  (name) => {
    const content = contentFor(name, 700);

    test("is whole when all of it is there", async () => expect(await verdictOf(name, content)).toBe("whole"));

    test("is broken when it is cut anywhere, or only holes are there", async () => {
      const torn = [];
      for (let length = 4; length < content.length; length += length > 560 && length < 690 ? 1 : 7) {
        if ((await verdictOf(name, content.subarray(0, length))) !== "broken") torn.push(length);
      }
      expect(torn).toEqual([]);
      expect(await verdictOf(name, Buffer.alloc(content.length))).toBe("broken");
      expect(await verdictOf(name, "")).toBe("broken");
    });

    test("is broken when bytes follow its end", async () => {
      expect(await verdictOf(name, Buffer.concat([content, Buffer.from("}x")]))).toBe("broken");
    });
  },
);

test.each([
  ["an HDF5 file that ends before its superblock says", "m.h5", contentFor("m.h5", 5000).subarray(0, 4000), "broken"],
  ["a whole HDF5 file proves little", "m.h5", contentFor("m.h5", 5000), "plausible"],
  ["a legacy pickle cannot be judged", "m.pt", Buffer.from("\x80\x02\x8a\x0al\xfc", "latin1"), "plausible"],
  ["a file of no known kind cannot be judged", "m.ubj", Buffer.from("x"), "plausible"],
  ["an empty marker is well", "commit_success.txt", "", "plausible"],
  ["an archive with a comment", "m.npz", commented(), "whole"],
  ["a zip64 archive", "m.pt", zip64(), "whole"],
  ["a zip64 archive without its record", "m.pt", zip64().fill(0, 40 + 100, 40 + 104), "broken"],
])("%s", async (_what, name, content, verdict) => {
  expect(await verdictOf(name, content)).toBe(verdict);
});

function commented(): Buffer {
  const plain = contentFor("m.npz", 700);
  plain.writeUInt16LE(5, plain.length - 2);
  return Buffer.concat([plain, Buffer.from("hello")]);
}

/** 40 bytes of data, 100 of directory, then the zip64 record, its locator and the end record with all ones. */
function zip64(): Buffer {
  const data = Buffer.alloc(40, "x");
  data.write("PK\x03\x04", 0, "latin1");
  const directory = Buffer.alloc(100, "d");
  directory.write("PK\x01\x02", 0, "latin1");
  const record = Buffer.alloc(56);
  record.write("PK\x06\x06", 0, "latin1");
  record.writeBigUInt64LE(100n, 40);
  record.writeBigUInt64LE(40n, 48);
  const locator = Buffer.alloc(20);
  locator.write("PK\x06\x07", 0, "latin1");
  locator.writeBigUInt64LE(140n, 8);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.fill(0xff, 8, 20);
  return Buffer.concat([data, directory, record, locator, end]);
}
