import { expect } from "vitest";
import { testSeed } from "../../evictions/support/random.ts";
import type { Service } from "./buckets.ts";
import { runSchedules } from "./run-schedules.ts";

/** Runs random schedules on a service, ten times as many in a soak; `OUTLAST_SCHEDULES` sets another number. */
export async function testSchedules(service: Service, count: number): Promise<void> {
  const { OUTLAST_SCHEDULES: wanted, OUTLAST_SOAK: isSoak } = process.env;
  const running = await service.start();
  Object.assign(process.env, running.env);
  try {
    const faults = await runSchedules(running, {
      what: service.name,
      seed: testSeed(`fault schedules on ${service.name}`),
      count: Number(wanted ?? (isSoak ? 10 * count : count)),
      atOnce: 16,
    });
    expect(faults.length, faults.join("\n\n")).toBe(0);
  } finally {
    await running.stop();
  }
}
