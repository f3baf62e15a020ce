import { OutlastError } from "../../core/index.ts";
import { acceleratorName } from "./accelerators.ts";
import { checkPrice } from "./check.ts";
import type { PricePoint } from "./table.ts";

const columns = [
  "machine",
  "accelerator",
  "count",
  "region",
  "on_demand",
  "spot",
  "flex_start",
  "currency",
  "as_of",
] as const;

/** What a price file held. */
export interface PriceFile {
  readonly points: readonly PricePoint[];
  /** Spot prices alone, from GCP's capacity advice: they replace the Spot price of a point that has the rest. */
  readonly spotOnly: readonly SpotPrice[];
  /** Things the reader should know, such as what a preemption rate is not. */
  readonly notes: readonly string[];
}

/** A Spot price without its machine's on-demand price. */
export interface SpotPrice {
  readonly machine: string;
  readonly region: string;
  readonly spot: number;
  readonly currency: string;
  readonly asOf: string;
}

/**
 * Reads prices from CSV or JSON of the user, or from the JSON of Compute Engine's capacity advice (`advice.capacityHistory`).
 *
 * @param text - The file's content.
 * @param file - Its name, for messages.
 */
export function readPrices(text: string, file: string): PriceFile {
  const isJson = /^\s*[[{]/.test(text);
  const found = isJson ? readJson(text, file) : { points: readCsv(text, file), spotOnly: [], notes: [] };
  if (found.points.length === 0 && found.spotOnly.length === 0) {
    throw wrong(file, "it holds no price", `columns: ${columns.join(", ")}`);
  }
  for (const point of found.points) checkPrice(point);
  const currencies = new Set([...found.points, ...found.spotOnly].map(({ currency }) => currency));
  if (currencies.size > 1) {
    throw wrong(file, `it mixes currencies: ${[...currencies].join(", ")}`, "convert all prices to one");
  }
  return found;
}

function readCsv(text: string, file: string): PricePoint[] {
  const lines = text.split(/\r?\n/);
  const header = (lines[0] ?? "").split(",").map((name) => name.trim().toLowerCase());
  const missing = ["machine", "region", "on_demand"].filter((name) => !header.includes(name));
  if (missing.length > 0) {
    throw wrong(file, `its first line lacks ${missing.join(", ")}`, `columns: ${columns.join(", ")}`);
  }
  return lines.slice(1).flatMap((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const cells = line.split(",").map((cell) => cell.trim());
    if (cells.length !== header.length) {
      throw wrong(
        file,
        `line ${index + 2} has ${cells.length} cells, not ${header.length}`,
        "one price a line, no commas inside",
      );
    }
    return [
      toPoint(Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ""])), `${file} line ${index + 2}`),
    ];
  });
}

function readJson(text: string, file: string): PriceFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(file, `it is not JSON: ${(error as Error).message}`, "give CSV, or an array of objects");
  }
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const points: PricePoint[] = [];
  const spotOnly: SpotPrice[] = [];
  const notes = new Set<string>();
  entries.forEach((entry, index) => {
    const at = `${file} entry ${index + 1}`;
    if (entry === null || typeof entry !== "object") throw wrong(at, "it is not an object", "one object a price");
    const fields = entry as Readonly<Record<string, unknown>>;
    if ("priceHistory" in fields || "preemptionHistory" in fields) {
      spotOnly.push(...readAdvice(fields, at));
      if ("preemptionHistory" in fields) {
        notes.add(
          "the capacity advice's preemptionRate is the share of stopped machines that were preempted, not a rate per hour: it ranks zones, and is not used as churn",
        );
      }
    } else {
      points.push(
        toPoint(Object.fromEntries(Object.entries(fields).map(([key, one]) => [snake(key), asText(one)])), at),
      );
    }
  });
  return { points, spotOnly, notes: [...notes] };
}

/** `{machineType, location, priceHistory: [{interval: {startTime}, listPrice: {currencyCode, units, nanos}}]}`, newest kept. */
function readAdvice(fields: Readonly<Record<string, unknown>>, at: string): SpotPrice[] {
  const machine = typeof fields["machineType"] === "string" ? last(fields["machineType"]) : "";
  const location = typeof fields["location"] === "string" ? last(fields["location"]) : "";
  if (!machine || !location)
    throw wrong(at, "it names no machineType or no location", "give the answer of advice.capacityHistory whole");
  const history = Array.isArray(fields["priceHistory"]) ? (fields["priceHistory"] as readonly unknown[]) : [];
  let newest: { readonly price: number; readonly currency: string; readonly day: string } | undefined;
  for (const record of history) {
    const { interval, listPrice } = record as {
      interval?: { startTime?: string };
      listPrice?: { currencyCode?: string; units?: string | number; nanos?: number };
    };
    const price = Number(listPrice?.units ?? 0) + Number(listPrice?.nanos ?? 0) / 1e9;
    const day = interval?.startTime?.slice(0, 10) ?? "";
    if (!(price > 0))
      throw wrong(at, "a listPrice is not above zero", "give the answer of advice.capacityHistory whole");
    if (!newest || day > newest.day) newest = { price, currency: listPrice?.currencyCode ?? "USD", day };
  }
  if (!newest) return [];
  const region = location.replace(/-[a-z]$/, "");
  return [{ machine, region, spot: newest.price, currency: newest.currency, asOf: newest.day }];
}

function toPoint(fields: Readonly<Record<string, string>>, at: string): PricePoint {
  const number = (name: string): number | undefined => {
    const text = fields[name];
    if (text === undefined || text === "") return undefined;
    const value = Number(text);
    if (!Number.isFinite(value))
      throw wrong(at, `${name} is ${JSON.stringify(text)}, not a number`, "prices are plain numbers per hour");
    return value;
  };
  const onDemand = number("on_demand");
  if (!fields["machine"] || !fields["region"] || onDemand === undefined) {
    throw wrong(at, "it lacks machine, region or on_demand", `fields: ${columns.join(", ")}`);
  }
  return {
    machine: fields["machine"],
    accelerator: acceleratorName(fields["accelerator"] ?? ""),
    count: number("count") ?? 1,
    region: fields["region"],
    onDemand,
    spot: number("spot"),
    flexStart: number("flex_start"),
    currency: fields["currency"] || "USD",
    asOf: fields["as_of"] ?? "",
    flexAsOf: undefined,
    source: at,
  };
}

/** A field as a cell would have it; what is neither text nor number is no price. */
function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The last part of a URL or path, which is how the API names things. */
function last(text: string): string {
  return text.slice(text.lastIndexOf("/") + 1);
}

function wrong(where: string, what: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${where} cannot be read as prices: ${what}`, { target: where, hint });
}
