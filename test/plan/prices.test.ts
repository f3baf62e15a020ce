import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkPrice, staleness } from "../../src/plan/prices/check.ts";
import { findPrice } from "../../src/plan/prices/find-price.ts";
import { readPrices } from "../../src/plan/prices/read-prices.ts";
import { priceTable } from "../../src/plan/prices/table.ts";

const csv = (rows: string) => `machine,accelerator,count,region,on_demand,spot,flex_start,currency,as_of\n${rows}`;

describe("the built-in table", () => {
  it("passes its own checks, row by row", () => {
    for (const point of priceTable) expect(() => checkPrice(point)).not.toThrow();
  });

  it("has the published sums of host and accelerators", () => {
    const vectors = JSON.parse(
      readFileSync(new URL("../fixtures/plan/vectors.json", import.meta.url), "utf8"),
    ) as readonly { id: string; expect: Record<string, number> }[];
    const expected = vectors.find(({ id }) => id === "V32")?.expect ?? {};
    const at = (machine: string) => findPrice({ machine, region: "us-central1" });
    const got = {
      a2_highgpu_8g_od: at("a2-highgpu-8g")?.onDemand,
      a2_highgpu_8g_spot: at("a2-highgpu-8g")?.spot,
      a3_highgpu_8g_od: at("a3-highgpu-8g")?.onDemand,
      a3_highgpu_8g_spot: at("a3-highgpu-8g")?.spot,
      a3_highgpu_8g_flex_no_lssd: at("a3-highgpu-8g")?.flexStart,
      g2_standard_4_od: at("g2-standard-4")?.onDemand,
      g2_standard_4_spot: at("g2-standard-4")?.spot,
    };
    for (const [name, price] of Object.entries(got)) {
      expect(Number(price?.toPrecision(6)), name).toBe(expected[name]);
    }
  });

  it("finds a machine by the accelerator's everyday name", () => {
    expect(findPrice({ accelerator: "L4", count: 2, region: "us-central1" })?.machine).toBe("g2-standard-24");
    expect(findPrice({ accelerator: "nvidia-h100-80gb", count: 8, region: "us-east4" })?.machine).toBe("a3-highgpu-8g");
    expect(findPrice({ accelerator: "TPU-v9", count: 1 })).toBeUndefined();
  });
});

describe("price traps", () => {
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ["Spot above on-demand", "m,l4,1,r,1,2,,USD,2026-01-01", /mislabelled/],
    ["flex-start above on-demand", "m,l4,1,r,1,0.5,2,USD,2026-01-01", /mislabelled/],
    ["a price of zero", "m,l4,1,r,0,0.5,,USD,2026-01-01", /is 0/],
    ["a negative price", "m,l4,1,r,1,-0.5,,USD,2026-01-01", /is -0.5/],
    ["the placeholder 700", "m,l4,1,r,700,300,,USD,2026-01-01", /placeholder/],
    ["words for numbers", "m,l4,1,r,cheap,0.5,,USD,2026-01-01", /not a number/],
    ["a line too short", "m,l4,1,r,1", /line 2 has 5 cells/],
    ["two currencies", "m,l4,1,r,1,0.5,,USD,2026-01-01\nn,l4,1,r,1,0.5,,EUR,2026-01-01", /mixes currencies/],
  ];
  for (const [name, row, message] of refused) {
    it(`refuses ${name}`, () => {
      expect(() => readPrices(csv(row), "p.csv")).toThrow(message);
    });
  }

  it("refuses files without a price or without the columns", () => {
    expect(() => readPrices("", "p.csv")).toThrow(/lacks machine/);
    expect(() => readPrices("[]", "p.json")).toThrow(/no price/);
    expect(() => readPrices("[1]", "p.json")).toThrow(/not an object/);
    expect(() => readPrices("{", "p.json")).toThrow(/not JSON/);
  });

  it("says when prices are old", () => {
    const point = readPrices(csv("m,l4,1,r,1,0.5,,USD,2026-01-01"), "p.csv").points[0];
    if (!point) throw new Error("no point");
    expect(staleness(point, Date.parse("2026-01-20"))).toBeUndefined();
    expect(staleness(point, Date.parse("2026-03-20"))).toMatch(/78 days old/);
    expect(staleness({ ...point, asOf: "" }, 0)).toMatch(/no date/);
  });
});

describe("price files", () => {
  it("come before the built-in table, as CSV and as JSON", () => {
    const asCsv = readPrices(csv("g2-standard-24,L4,2,us-central1,9,5,,USD,2026-11-01"), "p.csv");
    const asJson = readPrices(
      JSON.stringify([
        {
          machine: "g2-standard-24",
          accelerator: "L4",
          count: 2,
          region: "us-central1",
          onDemand: 9,
          spot: 5,
          asOf: "2026-11-01",
        },
      ]),
      "p.json",
    );
    for (const file of [asCsv, asJson]) {
      expect(findPrice({ accelerator: "l4", count: 2, region: "us-central1" }, file)).toMatchObject({
        onDemand: 9,
        spot: 5,
      });
    }
  });

  it("take Spot prices, but no churn, from the capacity advice", () => {
    const advice = {
      machineType: "a2-highgpu-8g",
      location: "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a",
      preemptionHistory: [{ interval: { startTime: "2026-11-01T07:00:00Z" }, preemptionRate: 0.4 }],
      priceHistory: [
        { interval: { startTime: "2026-10-01T07:00:00Z" }, listPrice: { currencyCode: "USD", units: "16", nanos: 0 } },
        {
          interval: { startTime: "2026-11-01T07:00:00Z" },
          listPrice: { currencyCode: "USD", units: "17", nanos: 500000000 },
        },
      ],
    };
    const file = readPrices(JSON.stringify(advice), "advice.json");
    expect(file.notes.join()).toMatch(/not a rate per hour/);
    expect(findPrice({ machine: "a2-highgpu-8g", region: "us-central1" }, file)).toMatchObject({
      spot: 17.5,
      asOf: "2026-11-01",
      onDemand: 29.38708,
    });
  });
});
