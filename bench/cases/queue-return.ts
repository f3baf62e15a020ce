import type { BenchCase, Figure } from "../case.ts";
import { median } from "../harness.ts";
import { waitFigure } from "../queue/figures.ts";
import { chunk, fillQueue } from "../queue/items.ts";
import { Places } from "../queue/places.ts";
import { timeReturn } from "../queue/return-time.ts";

/** A second over the lease, or over nothing. */
const slackMs = 1000;

/** From a worker's end until another one can start everything it held: after SIGTERM at once, after SIGKILL when the lease is over. */
export const benchCase: BenchCase = {
  name: "queue-return",
  async run({ build, rounds, workspace, note }) {
    const places = new Places(workspace.folder);
    const figures: Figure[] = [];
    try {
      for (const open of [() => places.sqlite(), () => places.postgres(), () => places.pubSub()]) {
        for (const signal of ["SIGTERM", "SIGKILL"] as const) {
          const times: number[] = [];
          let [name, mostMs] = ["", 0];
          for (let round = 0; round < Math.min(rounds, 3); round += 1) {
            const place = await open();
            if (!place) continue;
            await fillQueue(place.queue, place.results, 2 * chunk);
            // A polite end must not lean on the lease: it is too long to be waited for.
            const leaseMs = signal === "SIGTERM" ? 600_000 : place.leaseMs;
            name = `${place.name}, back after ${signal}`;
            mostMs = signal === "SIGTERM" ? slackMs : leaseMs + slackMs;
            times.push(await timeReturn({ build, ...place, signal, leaseMs }));
            note(`${name}: ${JSON.stringify(times)}`);
          }
          if (times.length > 0) figures.push(waitFigure(name, median(times), mostMs));
        }
      }
    } finally {
      await places.dispose();
    }
    return figures;
  },
};
