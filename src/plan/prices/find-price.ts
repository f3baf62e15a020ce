import { acceleratorName } from "./accelerators.ts";
import type { PriceFile } from "./read-prices.ts";
import { type PricePoint, priceTable } from "./table.ts";

/** What to look for. */
export interface PriceQuery {
  /** Any spelling; undefined for any. */
  readonly accelerator?: string | undefined;
  readonly count?: number | undefined;
  readonly machine?: string | undefined;
  readonly region?: string | undefined;
}

/** The price of a machine: the user's file before the built-in table, the newest before older ones. */
export function findPrice(query: PriceQuery, file?: PriceFile): PricePoint | undefined {
  const own = (file?.points ?? []).filter((point) => fits(point, query));
  const found = newest(own) ?? newest(priceTable.filter((point) => fits(point, query)));
  if (!found) return undefined;
  const spot = file?.spotOnly
    .filter(({ machine, region }) => machine === found.machine && region === found.region)
    .toSorted((a, b) => (a.asOf < b.asOf ? 1 : -1))[0];
  if (!spot || spot.currency !== found.currency) return found;
  return { ...found, spot: spot.spot, asOf: spot.asOf, source: "capacity advice (Spot), " + found.source };
}

/** What the table and the file know, for an error's hint. */
export function knownMachines(file?: PriceFile): readonly string[] {
  return [...new Set([...(file?.points ?? []), ...priceTable].map(({ machine, region }) => `${machine} in ${region}`))];
}

function fits(point: PricePoint, query: PriceQuery): boolean {
  return (
    (query.accelerator === undefined || point.accelerator === acceleratorName(query.accelerator)) &&
    (query.count === undefined || point.count === query.count) &&
    (query.machine === undefined || point.machine === query.machine) &&
    (query.region === undefined || point.region === query.region)
  );
}

/** The newest, and of equally new ones the cheapest. */
function newest(points: readonly PricePoint[]): PricePoint | undefined {
  return points.toSorted((a, b) => (a.asOf === b.asOf ? a.onDemand - b.onDemand : a.asOf < b.asOf ? 1 : -1))[0];
}
