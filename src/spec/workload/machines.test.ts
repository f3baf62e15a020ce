import { describe, expect, test } from "vitest";
import { isAtLeast } from "./gke-version.ts";
import { findAccelerator, gpusOf, nodeCount, smallestMachine } from "./machines.ts";

describe("machines", () => {
  test.each([
    ["nvidia-l4", 1, "g2-standard-8"],
    ["nvidia-l4", 2, "g2-standard-24"],
    ["nvidia-l4", 3, "g2-standard-48"],
    ["nvidia-tesla-a100", 16, "a2-megagpu-16g"],
    ["nvidia-tesla-t4", 4, "n1-standard-8"],
    ["nvidia-tesla-t4", 8, undefined],
    ["nvidia-h100-80gb", 9, undefined],
  ])("%s × %i needs %s", (type, count, machine) => expect(smallestMachine(type, count)).toBe(machine));

  test("names people use are understood", () => {
    expect(["L4", "nvidia-l4", "A100", "a100-80gb", "H100", "T4", "V100", "h100-mega"].map(findAccelerator)).toEqual([
      "nvidia-l4",
      "nvidia-l4",
      "nvidia-tesla-a100",
      "nvidia-a100-80gb",
      "nvidia-h100-80gb",
      "nvidia-tesla-t4",
      "nvidia-tesla-v100",
      "nvidia-h100-mega-80gb",
    ]);
    expect(findAccelerator("L5")).toBeUndefined();
  });

  test("a machine says what it carries", () => {
    expect(gpusOf("a3-megagpu-8g")).toEqual([{ accelerator: "nvidia-h100-mega-80gb", counts: [8] }]);
    expect(gpusOf("e2-standard-4")).toEqual([]);
    expect(nodeCount("n1-standard-16", "nvidia-tesla-v100", 3)).toBe(4);
    expect(nodeCount("e2-standard-4", "nvidia-tesla-v100", 1)).toBeUndefined();
  });
});

describe("versions", () => {
  test.each([
    ["1.35.0-gke.1171000", "1.35.0-gke.1171000", true],
    ["1.35.0-gke.1170999", "1.35.0-gke.1171000", false],
    ["1.36", "1.35.0-gke.1171000", true],
    ["1.9.0", "1.33.0", false],
    ["latest", "1.33.0", undefined],
  ])("%s against %s", (version, least, wanted) => expect(isAtLeast(version, least)).toBe(wanted));
});
