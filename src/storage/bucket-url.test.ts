import { expect, test } from "vitest";
import { parseBucketUrl } from "./bucket-url.ts";

test("reads bucket, prefix, endpoint and region", () => {
  const url = "s3://my-bucket/team/a?endpoint=http://minio:9000&region=eu-west-1";
  expect(parseBucketUrl(url)).toEqual({
    scheme: "s3",
    bucket: "my-bucket",
    prefix: "team/a/",
    endpoint: "http://minio:9000",
    region: "eu-west-1",
    url,
  });
});

test.each([
  "s3://me:hunter2@my-bucket/x",
  "s3://my-bucket/x?endpoint=http://me:hunter2@minio:9000",
  "s3://my-bucket/x?endpoint=http%3A%2F%2Fme:hunter2%40minio:9000",
  "s3://my-bucket/..?endpoint=http://me:hunter2@minio:9000",
  "s3://my-bucket/x?endpoint=http://me:hunter2@minio:9000&colour=red",
])("refuses %s and shows no password", (url) => {
  let error: unknown;
  try {
    parseBucketUrl(url);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: "OUTLAST_USAGE" });
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain("hunter2");
});
