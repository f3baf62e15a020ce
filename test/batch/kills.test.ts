import { afterAll, beforeAll, describe, test } from "vitest";
import { testSeed } from "../evictions/support/random.ts";
import { closePlaces, isHere, type LayoutName, layouts, openJob, openPlaces, type Places } from "./layouts.ts";
import { proveUnderKills } from "./prove-under-kills.ts";

const isSoak = process.env["OUTLAST_SOAK"] !== undefined;
const full = Number(process.env["OUTLAST_TEST_KILLS"] ?? 200);
const itemsPerKill = 100;
const options = { workers: 4, longestMs: 2000, seed: testSeed("batch kills") };

/** A worker on Pub/Sub takes twice the processor time to start; 200 of them do not fit into a plain run beside the others. */
const killsOn = (name: LayoutName) => (name === "Pub/Sub" && !isSoak ? Math.ceil(full / 4) : full);

let places: Places;
beforeAll(async () => {
  places = await openPlaces();
}, 120_000);
afterAll(() => closePlaces(places));

const timeout = (isSoak ? 60 : 15) * 60_000;

/** The three run side by side: most of a victim's life is waiting for its kill. */
describe.concurrent(`${options.workers} workers, killed again and again`, () => {
  for (const name of layouts) {
    test.skipIf(!isHere(name))(`${name}: one result each, nothing charged`, { timeout }, async () => {
      const kills = killsOn(name);
      const job = await openJob(name, places);
      const report = await proveUnderKills(job, { ...options, kills, items: kills * itemsPerKill });
      const rest = kills < full ? ` (${full} kills with OUTLAST_SOAK)` : "";
      process.stderr.write(`batch kills, ${name}: ${report}${rest}\n`);
    });
  }
});
