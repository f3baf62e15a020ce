import type { Lifetime } from "./lifetime.ts";
import type { JobModel } from "./job.ts";

/** What a job takes on machines of any lifetime law, a fresh machine after each preemption. */
export interface LifetimeExpectation {
  readonly wall: number;
  readonly billed: number;
  readonly preemptions: number;
}

/**
 * The renewal recursion: with t_j = restart + upload + j*(interval + save), a machine that dies between t_j and t_j+1 leaves j
 * segments safe. Takes any survival curve; grows with the square of `segments`.
 */
export function expectOnLifetimes(
  job: Omit<JobModel, "rate">,
  segments: number,
  lifetime: Lifetime,
): LifetimeExpectation {
  const { work, save, upload = 0, restart, wait } = job;
  const period = work / segments + save;
  const survival = [1];
  const lived = [0];
  for (let j = 1; j <= segments; j += 1) {
    const t = restart + upload + j * period;
    survival.push(lifetime.survival(t));
    lived.push(lifetime.lived(t));
  }
  const first = survival[1] as number;
  const billed = [0];
  const preemptions = [0];
  for (let k = 1; k <= segments; k += 1) {
    let hours = lived[k] as number;
    let deaths = 1 - first;
    for (let j = 1; j < k; j += 1) {
      const dies = (survival[j] as number) - (survival[j + 1] as number);
      hours += dies * (billed[k - j] as number);
      deaths += dies * (1 + (preemptions[k - j] as number));
    }
    billed.push(hours / first);
    preemptions.push(deaths / first);
  }
  const total = { billed: billed[segments] as number, preemptions: preemptions[segments] as number };
  return { ...total, wall: total.billed + wait * total.preemptions };
}
