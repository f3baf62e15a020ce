import { describe, expect, it } from "vitest";
import type { ManifestChunk, ManifestEntry } from "../manifest.ts";
import { checkManifest } from "./check-manifest.ts";

const hash = "ab".repeat(32);
const chunk: ManifestChunk = { key: `chunks/ab/${hash}.1-1`, hash, size: 100 };
const file = (path: string, more: object = {}): ManifestEntry => ({
  type: "file",
  path,
  size: 10,
  mode: 0o644,
  mtimeMs: 0,
  hash,
  pieces: [[0, 0, 10]],
  ...more,
});
const folder = (path: string): ManifestEntry => ({ type: "directory", path, mode: 0o755 });
const link = (path: string, target: string): ManifestEntry => ({ type: "link", path, target });
const check = (entries: ManifestEntry[], chunks: ManifestChunk[] = [chunk]) =>
  checkManifest({ chunks, entries }, "runs/a/");

describe("checkManifest", () => {
  it("takes a sound manifest", () => {
    check([
      folder("d"),
      file("d/x"),
      file("y/z"),
      file("..x"),
      link("l", "d/x"),
      link("d/up", "../y/./z"),
      file("\udcff"),
    ]);
  });

  it.each<[string, ManifestEntry[]]>([
    ["a path upwards", [file("../x")]],
    ["a hidden path upwards", [file("a/../../x")]],
    ["an absolute path", [file("/etc/passwd")]],
    ["an empty path", [file("")]],
    ["a dot", [file(".")]],
    ["a dot inside", [file("a/./b")]],
    ["an empty segment", [file("a//b")]],
    ["a trailing slash", [folder("a/")]],
    ["a null byte", [file("a\0b")]],
    ["half a character", [file("a\ud800")]],
    ["a second spelling of the same bytes", [file("\udcc3\udca4")]],
    ["a path named twice", [file("a"), file("a")]],
    ["a folder and a file of one name", [folder("a"), file("a")]],
    ["a file below a file", [file("a"), file("a/b")]],
    ["a file through a link", [link("a", "b"), file("a/x")]],
    ["a file deep through a link", [link("a", "b"), file("a/x/y")]],
    ["an absolute link", [link("a", "/etc/passwd")]],
    ["a link out of the tree", [link("a", "../x")]],
    ["a link out of the tree from inside", [link("d/a", "../../x")]],
    ["a link that leaves and comes back", [link("a", "x/../../y/z")]],
    ["an empty link", [link("a", "")]],
    ["a piece of no chunk", [file("a", { pieces: [[1, 0, 10]] })]],
    ["a piece past the chunk's end", [file("a", { pieces: [[0, 91, 10]] })]],
    ["a negative offset", [file("a", { pieces: [[0, -1, 10]] })]],
    ["a fractional length", [file("a", { pieces: [[0, 0, 9.5]] })]],
    ["pieces that do not add up", [file("a", { size: 11 })]],
    ["a negative size", [file("a", { size: -1, pieces: [] })]],
  ])("refuses %s", (_, entries) => {
    expect(() => check(entries)).toThrow(expect.objectContaining({ code: "OUTLAST_MANIFEST_INVALID" }));
  });

  it.each<[string, Partial<ManifestChunk>]>([
    ["a key out of the run", { key: "../../other" }],
    ["a key that is no key", { key: "a b" }],
    ["a huge size", { size: 2 ** 40 }],
    ["a negative size", { size: -1 }],
    ["a malformed hash", { hash: "xyz" }],
  ])("refuses a chunk with %s", (_, change) => {
    expect(() => check([], [{ ...chunk, ...change }])).toThrow(
      expect.objectContaining({ code: "OUTLAST_MANIFEST_INVALID" }),
    );
  });
});
