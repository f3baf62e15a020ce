import { continentOf, type Provider, providerOf } from "./places.ts";

/**
 * US dollars per GB, to one significant figure: enough to tell cents from hundreds. As seen in public price lists in September 2026
 * (Google: Cloud Storage and network pricing; Amazon: EC2 data transfer); volume discounts and taxes left out.
 */
const usdPerGb = {
  google: { sameContinent: 0.02, otherContinent: 0.08, farAway: 0.15, internet: 0.12 },
  amazon: { sameContinent: 0.02, otherContinent: 0.02, farAway: 0.09, internet: 0.09 },
} as const satisfies Readonly<Record<Provider, object>>;

/** What a GB costs on its way between a machine and a bucket that are apart; undefined when the names do not tell. */
export function transferPrice(region: string, location: string): number | undefined {
  const machine = providerOf(region);
  const bucket = providerOf(location) ?? (machine === undefined ? undefined : "google");
  if (machine === undefined || bucket === undefined) return undefined;
  const prices = usdPerGb[machine];
  if (machine !== bucket) return prices.internet;
  const [from, to] = [continentOf(region), continentOf(location)];
  if (from === "elsewhere" || to === "elsewhere") return prices.farAway;
  if (from !== to) return prices.otherContinent;
  // Within Asia it costs as much as to another continent.
  return from === "asia" ? prices.otherContinent : prices.sameContinent;
}
