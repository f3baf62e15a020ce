import { describe, expect, it } from "vitest";
import { compareRegions } from "./compare-regions.ts";

const apart = (region: string, location: string, checkpointBytes?: number) =>
  compareRegions({ region, location, checkpointBytes });

describe("together", () => {
  it.each([
    ["us-central1", "us-central1"],
    ["us-central1", "US-CENTRAL1"],
    ["us-central1", "us"],
    ["us-central1", "nam4"],
    ["us-east1", "nam4"],
    ["europe-west4", "eu"],
    ["europe-west4", "eur4"],
    ["europe-north1", "eur4"],
    ["asia-east1", "asia"],
    ["asia-northeast2", "asia1"],
    ["eu-west-3", "eu-west-3"],
  ])("a machine in %s and a bucket in %s", (region, location) => {
    expect(apart(region, location)).toBeUndefined();
  });
});

describe("nobody can tell", () => {
  it.each([
    ["us-central1", "ca"],
    ["us-central1", "garage"],
    ["us-central1", "nam9"],
  ])("a machine in %s and a bucket in %s", (region, location) => {
    expect(apart(region, location)).toBeUndefined();
  });
});

describe("apart", () => {
  it.each([
    ["us-central1", "us-east1", "$0.02"],
    ["us-west1", "nam4", "$0.02"],
    ["europe-west2", "eu", "$0.02"],
    ["us-central1", "europe-west4", "$0.08"],
    ["us-central1", "eur4", "$0.08"],
    ["us-central1", "eu", "$0.08"],
    ["asia-east1", "asia1", "$0.08"],
    ["us-central1", "australia-southeast1", "$0.15"],
    ["us-east-1", "us-west-2", "$0.02"],
    ["us-east-1", "eu-west-1", "$0.02"],
    ["us-central1", "us-east-1", "$0.12"],
    ["us-east-1", "us-east1", "$0.09"],
    ["us-east-1", "us", "$0.09"],
  ])("a machine in %s and a bucket in %s: %s per GB", (region, location, price) => {
    expect(apart(region, location)).toEqual({
      machine: region,
      bucket: location,
      estimate: `about ${price} per GB, each way`,
    });
  });

  it.each([
    [20e9, "about $1.60 per checkpoint of 20 GB, each way"],
    [1.26e9, "about $0.10 per checkpoint of 1.3 GB, each way"],
    [50e6, "less than $0.01 per checkpoint of less than 0.1 GB, each way"],
    [0, "about $0.08 per GB, each way"],
  ])("a checkpoint of %d bytes", (bytes, estimate) => {
    expect(apart("us-central1", "europe-west4", bytes)?.estimate).toBe(estimate);
  });

  it("in places of unknown names: says so without a price", () => {
    expect(apart("rack7", "us-central1")).toEqual({ machine: "rack7", bucket: "us-central1", estimate: undefined });
  });
});
