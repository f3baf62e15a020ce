/**
 * Young's interval (1974), the first-order answer: work between two saves, for a save that stalls the program `save` and a mean
 * time between preemptions of `meanUptime`. Any unit of time.
 */
export function youngInterval(save: number, meanUptime: number): number {
  return Math.sqrt(2 * save * meanUptime);
}

/** Daly's interval (2006), higher order; past his range (a save of two mean uptimes and more) it is one mean uptime. */
export function dalyInterval(save: number, meanUptime: number): number {
  if (save >= 2 * meanUptime) return meanUptime;
  const root = Math.sqrt(save / (2 * meanUptime));
  return youngInterval(save, meanUptime) * (1 + root / 3 + save / (18 * meanUptime)) - save;
}

/**
 * The exact optimum for memoryless preemptions (Bougeret et al. 2011): tau = (1 + W0(-exp(-rate*save - 1))) / rate. It does not
 * depend on the restart, on waiting, nor on the lag of an upload that goes on beside the work.
 */
export function bestInterval(save: number, rate: number): number {
  const a = save * rate;
  if (!(a > 0)) return 0;
  // Solved as y - 1 + exp(-(y + a)) = 0 with y = rate*tau; the function is convex and rising and Young's value lies at or above the
  // root, so Newton's steps go down to it and never past it. expm1 keeps the digits when a is tiny.
  let y = Math.min(1, Math.sqrt(2 * a));
  for (let round = 0; round < 100; round += 1) {
    const step = (y + Math.expm1(-(y + a))) / -Math.expm1(-(y + a));
    y -= step;
    if (Math.abs(step) <= 1e-14 * y) break;
  }
  return y / rate;
}
