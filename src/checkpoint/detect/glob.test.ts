import { expect, test } from "vitest";
import { compileGlob } from "./glob.ts";

test.each([
  ["*.done", "a.done", true],
  ["*.done", "x/a.done", false],
  ["**/*.done", "x/y/a.done", true],
  ["**/*.done", "a.done", true],
  ["step-*/DONE", "step-1/DONE", true],
  ["logs/**", "logs/a/b", true],
  ["{a,b}-?.pt", "b-1.pt", true],
  ["[!ab].pt", "a.pt", false],
  ["[!ab].pt", "c.pt", true],
  ["a.pt", "aXpt", false],
  ["\\*.pt", "*.pt", true],
  ["a+b(c).pt", "a+b(c).pt", true],
])("%s on %s: %s", (pattern, path, matches) => expect(compileGlob(pattern)(path)).toBe(matches));

test.each(["", "/abs", "../up", "a/../b", "[a", "{a,b"])("refuses %j", (pattern) => {
  expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: "OUTLAST_USAGE" }));
});
