import { describe, it } from "vitest";
import { gcs } from "./support/buckets.ts";
import { testSchedules } from "./support/test-schedules.ts";

// Two thousand together with those on S3; in two files, so that two processes share the work.
describe.skipIf(!gcs.isThere)("checkpoints in GCS over a network that drops, repeats, cuts and garbles", () => {
  it("nothing is torn, no commit is lost, no success is false", { timeout: 7_200_000 }, () => testSchedules(gcs, 1300));
});
