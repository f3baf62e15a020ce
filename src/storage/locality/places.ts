/** Whose region a name is. */
export type Provider = "google" | "amazon";

/** Where data travels far, or costs more. */
export type Continent = "north-america" | "europe" | "asia" | "elsewhere";

/** Reads whose a region's name is from its form: `us-east1` is Google's, `us-east-1` Amazon's. */
export function providerOf(region: string): Provider | undefined {
  if (/^[a-z]+-[a-z]+\d+$/.test(region)) return "google";
  return /^[a-z]{2}(?:-[a-z]+)+-\d+$/.test(region) ? "amazon" : undefined;
}

/** Google's dual-regions, each the pair of regions that hold the data. */
const dualRegions: Readonly<Record<string, readonly [string, string]>> = {
  nam4: ["us-central1", "us-east1"],
  eur4: ["europe-north1", "europe-west4"],
  eur5: ["europe-west1", "europe-west2"],
  eur7: ["europe-west2", "europe-west3"],
  eur8: ["europe-west3", "europe-west6"],
  asia1: ["asia-northeast1", "asia-northeast2"],
};

/** Google's multi-regions. London and Zurich are not in `eu`, which keeps to the European Union. */
const multiRegions: Readonly<Record<string, RegExp>> = {
  us: /^us-/,
  eu: /^europe-(?!west[26]$)/,
  asia: /^asia-/,
};

/** Whether a bucket of this location keeps its data in the region; undefined for a location we do not know. */
export function covers(location: string, region: string): boolean | undefined {
  if (location === region) return true;
  const dual = dualRegions[location];
  if (dual) return dual.includes(region);
  const multi = multiRegions[location];
  if (multi) return providerOf(region) === "google" && multi.test(region);
  return providerOf(location) === undefined ? undefined : false;
}

const continents: readonly (readonly [RegExp, Continent])[] = [
  [/^(us|ca-|mx-|northamerica|nam\d)/, "north-america"],
  [/^eu/, "europe"],
  // Amazon calls Sydney, Melbourne and Auckland ap-southeast too.
  [/^(asia|ap-(?!southeast-[246]$))/, "asia"],
];

/** The continent of a region or of a bucket's location. */
export function continentOf(place: string): Continent {
  return continents.find(([pattern]) => pattern.test(place))?.[1] ?? "elsewhere";
}
