import { availableParallelism, loadavg } from "node:os";
import { afterAll, beforeAll, expect } from "vitest";
import { createTransfer } from "../../../src/checkpoint/index.ts";
import { Scene } from "../../evictions/support/scene.ts";
import { type RunningService, services } from "./buckets.ts";
import { evictAtStart, type Evicted, evictDuringUpload } from "./upload-eviction.ts";
import { type Eviction, type Phase, phases } from "./upload-watch.ts";

const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const graceMs = isSoak ? 15_000 : 4000;
/** What is left of the grace for shipping. */
const shipMs = graceMs - 1250;
/** Commit, final look at the directory and a busy machine have to fit in here. */
const marginMs = 1000;
const megabyte = 1e6;

/** One place in the table of rates and phases. */
export interface Cell {
  readonly service: string;
  readonly rate: number;
  readonly phase: Phase;
}

/** The cells of some rates. Both services meet every rate and every phase; in a soak, every pair of them. */
export function cellsOf(...rates: readonly number[]): readonly Cell[] {
  return rates.flatMap((rate) =>
    phases.flatMap((phase, column) => {
      const both = services.map(({ name }) => ({ service: name, rate, phase }));
      return isSoak ? both : both.slice((Math.log10(rate) + column) % 2).slice(0, 1);
    }),
  );
}

/** Whether all services are here. */
export const areServicesThere: boolean = services.every(({ isThere }) => isThere);

const running = new Map<string, RunningService>();
const scene = new Scene();
const transfer = createTransfer({ inline: true });
let runs = 0;

/** Starts the services before the tests of a file, and ends them and all else after. */
export function useServices(): void {
  beforeAll(async () => {
    for (const service of services.filter(({ isThere }) => isThere)) {
      const started = await service.start();
      running.set(service.name, started);
      Object.assign(process.env, started.env);
    }
  });
  afterAll(async () => {
    await scene.end();
    for (const service of running.values()) await service.stop();
  });
}

async function evict({ service, rate, phase }: Cell, change: Partial<Eviction> = {}): Promise<Evicted> {
  const place = running.get(service);
  if (!place) throw new Error(`${service} does not run`);
  const bytesPerSecond = rate * megabyte;
  // Too much at the first byte, enough time left from the middle on.
  const bytes = Math.round((shipMs / 1000) * 1.3 * bytesPerSecond);
  const run = `evicted-${(runs += 1)}`;
  return evictDuringUpload(scene, place, { run, phase, bytesPerSecond, bytes, graceMs, ...change }, transfer);
}

/**
 * How much later the end may be seen. Before a process ends, each of its threads has to run once more, those of low priority too: with several programs
 * waiting for each core that takes longer than all else, and the second that is kept for it is used up.
 */
function lateMs(): number {
  return (loadavg()[0] ?? 0) > 2 * availableParallelism() ? 1000 : 0;
}

/** What is wrong with an eviction; empty when all is well. */
function faultsOf(evicted: Evicted, isBlackHole: boolean): string[] {
  const { code, tookMs, lagMs, neededMs, restoredStep, reportedStep } = evicted;
  const faults: string[] = [];
  if (code !== 75) faults.push(`it exited with ${code}`);
  if (tookMs > graceMs - 1000 + 2 * lagMs + lateMs())
    faults.push(`it was out ${tookMs} ms after the notice (grace ${graceMs} ms, timers ${Math.round(lagMs)} ms late)`);
  const mustLand = !isBlackHole && neededMs + marginMs + 2 * lagMs <= shipMs;
  if (mustLand && restoredStep !== 2) faults.push(`${Math.round(neededMs)} ms were needed, and it did not land`);
  if (neededMs > shipMs && restoredStep !== 1) faults.push(`${Math.round(neededMs)} ms were needed, and it landed?`);
  if (reportedStep !== undefined && reportedStep > restoredStep)
    faults.push(`step ${reportedStep} was reported as committed, and step ${restoredStep} is`);
  return faults;
}

/** Evicts in one cell, a hundred times in a soak, and checks what came of it. */
export async function testCell(cell: Cell): Promise<void> {
  const { service, rate, phase } = cell;
  const times = isSoak ? 100 : 1;
  const faults: string[] = [];
  let landed = 0;
  for (let time = 1; time <= times; time += 1) {
    const evicted = await evict(cell);
    if (evicted.restoredStep === 2) landed += 1;
    const found = faultsOf(evicted, false);
    if (found.length > 0) faults.push(`${found.join("; ")}\n${evicted.output}`);
    if (!isSoak) tell(cell, evicted);
  }
  if (isSoak)
    process.stderr.write(
      `${service}, ${rate} MB/s, ${phase}: ${landed} of ${times} landed, ${faults.length} not as they should be\n`,
    );
  expect(faults.length, faults.join("\n\n")).toBeLessThanOrEqual(0.01 * (times - 1));
}

/** A store that has never answered, and a notice while it is waited for. */
export async function testSilentStart(service: string): Promise<void> {
  const place = running.get(service);
  if (!place) throw new Error(`${service} does not run`);
  const { code, tookMs, output } = await evictAtStart(scene, place, graceMs);
  expect([75, tookMs < graceMs - 1000 + lateMs()], `${code} after ${tookMs} ms\n${output}`).toEqual([code, true]);
}

/** The same, with a store that never answers again once the notice is there. */
export async function testBlackHole(cell: Cell): Promise<void> {
  const evicted = await evict(cell, { blackHole: true });
  tell(cell, evicted);
  expect(faultsOf(evicted, true), evicted.output).toEqual([]);
  expect(evicted.restoredStep, evicted.output).toBe(1);
}

/** Longer than any test here takes. */
export const timeout: number = isSoak ? 14_400_000 : 120_000;

function tell({ service, rate, phase }: Cell, { restoredStep, neededMs, tookMs, lagMs }: Evicted): void {
  process.stderr.write(
    `${service}, ${rate} MB/s, ${phase}: ${restoredStep === 2 ? "landed" : "left behind"}, ${Math.round(neededMs)} ms needed, ` +
      `out after ${tookMs} of ${graceMs} ms, timers up to ${Math.round(lagMs)} ms late\n`,
  );
}
