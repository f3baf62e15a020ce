import type { HclValue } from "./evaluate-hcl.ts";

/** A map of scalars, as strings; what is none is left out. */
export function asRecord(value: HclValue): Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) =>
      typeof one === "object" || one === undefined ? [] : [[key, String(one)]],
    ),
  );
}

/** A scalar as text. */
export function asText(value: HclValue): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** A whole number, also when it is written in quotes. */
export function asNumber(value: HclValue): number | undefined {
  const text = asText(value);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** True or false, also when it is written in quotes. */
export function asBoolean(value: HclValue): boolean | undefined {
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
}
