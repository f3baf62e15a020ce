import { expect, test } from "vitest";
import { readPickledInteger } from "./pickled-integer.ts";

const key = Buffer.from("global_step");
const long = Buffer.concat([Buffer.from([0x58, 11, 0, 0, 0]), key]);
const short = Buffer.concat([Buffer.from([0x8c, 11]), key]);

test.each([
  ["one byte", [long, [0x71, 1], [0x4b, 20]], 20],
  ["two bytes", [long, [0x71, 1], [0x4d, 0x10, 0x27]], 10_000],
  ["four bytes", [long, [0x72, 1, 0, 0, 0], [0x4a, 0x40, 0x42, 0x0f, 0]], 1_000_000],
  ["a long", [long, [0x71, 1], [0x8a, 5, 0, 0, 0, 0, 1]], 4_294_967_296],
  ["protocol 4", [short, [0x94], [0x4b, 7]], 7],
  ["a negative number", [long, [0x71, 1], [0x4a, 0xff, 0xff, 0xff, 0xff]], undefined],
  [
    "a key that only ends so",
    [Buffer.from([0x58, 14, 0, 0, 0]), Buffer.from("my_"), key, [0x71, 1], [0x4b, 20]],
    undefined,
  ],
  ["cut before the value", [long, [0x71, 1], [0x4d, 1]], undefined],
  ["another kind of value", [long, [0x71, 1], [0x4e]], undefined],
])("%s", (_what, parts, value) => {
  expect(readPickledInteger(Buffer.concat(parts.map((part) => Buffer.from(part))), "global_step")).toBe(value);
});
