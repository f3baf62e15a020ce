export { type Apart, compareRegions } from "./compare-regions.ts";
