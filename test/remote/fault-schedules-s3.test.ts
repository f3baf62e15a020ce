import { describe, it } from "vitest";
import { s3 } from "./support/buckets.ts";
import { testSchedules } from "./support/test-schedules.ts";

// Two thousand together with those on GCS; in two files, so that two processes share the work.
describe.skipIf(!s3.isThere)("checkpoints in S3 over a network that drops, repeats, cuts and garbles", () => {
  it("nothing is torn, no commit is lost, no success is false", { timeout: 7_200_000 }, () => testSchedules(s3, 700));
});
