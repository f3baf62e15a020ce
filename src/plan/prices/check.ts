import { OutlastError } from "../../core/index.ts";
import type { PricePoint } from "./table.ts";

/** After this many days a price is said to be old: Spot prices move every fortnight. */
const oldAfterDays = 30;

/** Prices that never were real: marks of "no price" in public lists. */
const placeholders: ReadonlySet<number> = new Set([700]);

/**
 * Refuses prices that cannot be right and says why. A Spot price at or above on-demand, above all, is the mark of a mislabelled row:
 * a public list held flex-start prices in its on-demand column for a year and a half.
 */
export function checkPrice(point: PricePoint): void {
  const where = `${point.machine} in ${point.region}`;
  const prices = [
    ["on-demand", point.onDemand],
    ["Spot", point.spot],
    ["flex-start", point.flexStart],
  ] as const;
  for (const [kind, price] of prices) {
    if (price === undefined) continue;
    if (!Number.isFinite(price) || price <= 0)
      throw refused(`the ${kind} price of ${where} is ${price}`, "give a price above zero");
    if (placeholders.has(price)) {
      throw refused(
        `the ${kind} price of ${where} is ${price}, a placeholder of public lists`,
        "look it up and give the real one",
      );
    }
  }
  if (point.spot !== undefined && point.spot >= point.onDemand) {
    throw refused(
      `Spot (${point.spot}) is not below on-demand (${point.onDemand}) for ${where}: one of them is mislabelled`,
      "public lists have held flex-start prices in the on-demand column; check both against the provider's price page",
    );
  }
  if (point.flexStart !== undefined && point.flexStart > point.onDemand) {
    throw refused(
      `flex-start (${point.flexStart}) is above on-demand (${point.onDemand}) for ${where}: one of them is mislabelled`,
      "check both against the provider's price page",
    );
  }
}

/** Days since a price was true, or undefined when its day cannot be read. */
export function ageInDays(asOf: string, now: number): number | undefined {
  const then = Date.parse(asOf.length === 4 ? `${asOf}-01-01` : asOf);
  return Number.isNaN(then) ? undefined : Math.max(0, Math.floor((now - then) / 86_400_000));
}

/** One line when a price is old; undefined when it is fresh. */
export function staleness(point: PricePoint, now: number): string | undefined {
  const age = ageInDays(point.asOf, now);
  if (age === undefined) return `the prices of ${point.machine} in ${point.region} carry no date`;
  if (age <= oldAfterDays) return undefined;
  return `the prices of ${point.machine} in ${point.region} are ${age} days old (${point.asOf}); Spot prices move every two weeks: give --prices`;
}

function refused(what: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", what, { hint });
}
