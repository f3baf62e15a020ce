import { monitorEventLoopDelay } from "node:perf_hooks";

/** What a child reports of its own work. */
export interface Measured {
  readonly ms: number;
  /** Highest resident set, bytes. */
  readonly rss: number;
  /** 99th percentile of the main thread's event-loop delay, milliseconds. */
  readonly delayP99Ms: number;
  /** Processor time of the whole process, milliseconds: says more than the time on a busy machine. */
  readonly cpuMs: number;
}

/** Times `act` from its first call until it is done; process start-up is not in it. */
export async function measure<T>(act: () => Promise<T>): Promise<Measured & { readonly value: T }> {
  const resolution = 1;
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const value = await act();
  const ms = performance.now() - began;
  const cpu = process.cpuUsage(cpuBefore);
  delays.disable();
  // The histogram holds whole intervals between ticks; what exceeds the interval asked for is delay.
  const delayP99Ms = Math.max(0, delays.percentile(99) / 1e6 - resolution);
  return { ms, rss: process.resourceUsage().maxRSS * 1024, delayP99Ms, cpuMs: (cpu.user + cpu.system) / 1000, value };
}
