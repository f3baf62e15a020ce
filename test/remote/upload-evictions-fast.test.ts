import { describe, test } from "vitest";
import { areServicesThere, cellsOf, testCell, timeout, useServices } from "./support/upload-cells.ts";

// One after the other: the bytes of a fast link need most of a small machine.
describe.skipIf(!areServicesThere)("evicted during an upload to a store at 100 MB/s", () => {
  useServices();

  test.for(cellsOf(100))("$service, $rate MB/s, $phase", { timeout }, testCell);
});
