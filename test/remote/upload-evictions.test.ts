import { describe, test } from "vitest";
import {
  areServicesThere,
  cellsOf,
  testBlackHole,
  testCell,
  testSilentStart,
  timeout,
  useServices,
} from "./support/upload-cells.ts";

describe.skipIf(!areServicesThere)("evicted during an upload to a slow store", () => {
  useServices();

  test.concurrent.for(cellsOf(1, 10))("$service, $rate MB/s, $phase", { timeout }, testCell);

  test.concurrent.for([
    { service: "S3", rate: 10, phase: "before the first byte" },
    { service: "GCS", rate: 10, phase: "in the middle" },
    { service: "S3", rate: 10, phase: "between manifest and log" },
  ] as const)("by a store that never answers again, $phase: the checkpoint before stands", { timeout }, testBlackHole);

  test.concurrent.for(["S3", "GCS"])(
    "while %s has not answered at all: the program is never started",
    { timeout },
    testSilentStart,
  );
});
