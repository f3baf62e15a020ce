import { covers } from "./places.ts";
import { transferPrice } from "./transfer-price.ts";

/** A machine and a bucket that are not in the same place. */
export interface Apart {
  readonly machine: string;
  readonly bucket: string;
  /** What that costs, for people; undefined when nobody can tell from the names. */
  readonly estimate: string | undefined;
}

/** Compares where a bucket's data is with where this machine is; undefined when they are together, or nobody can tell. */
export function compareRegions(options: {
  readonly region: string;
  readonly location: string;
  /** Size of the newest checkpoint, if there is one. */
  readonly checkpointBytes?: number | undefined;
}): Apart | undefined {
  const region = options.region.trim().toLowerCase();
  const location = options.location.trim().toLowerCase();
  if (covers(location, region) !== false) return undefined;
  const price = transferPrice(region, location);
  return {
    machine: region,
    bucket: location,
    estimate: price === undefined ? undefined : estimate(price, options.checkpointBytes),
  };
}

function estimate(usdPerGb: number, bytes: number | undefined): string {
  if (bytes === undefined || bytes === 0) return `${dollars(usdPerGb)} per GB, each way`;
  const gb = bytes / 1e9;
  const size = gb >= 10 ? gb.toFixed(0) : gb >= 0.1 ? gb.toFixed(1) : "less than 0.1";
  return `${dollars(gb * usdPerGb)} per checkpoint of ${size} GB, each way`;
}

function dollars(usd: number): string {
  return usd < 0.01 ? "less than $0.01" : `about $${usd.toFixed(2)}`;
}
