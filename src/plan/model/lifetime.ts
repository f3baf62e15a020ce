import { gamma, gammaShare } from "./special.ts";

/** How long a machine lives: a survival curve. Hours. */
export interface Lifetime {
  /** Chance to live longer than `t`. */
  readonly survival: (t: number) => number;
  /** Integral of the survival curve from 0 to `t`: hours lived within the first `t`. */
  readonly lived: (t: number) => number;
  /** A lifetime for a number in [0, 1), by inverting the curve. */
  readonly draw: (uniform: number) => number;
}

/** Memoryless. */
export function exponentialLifetime(rate: number): Lifetime {
  return {
    survival: (t) => Math.exp(-rate * t),
    lived: (t) => (rate === 0 ? t : -Math.expm1(-rate * t) / rate),
    draw: (uniform) => (rate === 0 ? Number.POSITIVE_INFINITY : -Math.log1p(-uniform) / rate),
  };
}

/** The Weibull scale that gives this mean. */
export function weibullScale(shape: number, mean: number): number {
  return mean / gamma(1 + 1 / shape);
}

/** Weibull: a shape below one means that young machines die more. */
export function weibullLifetime(shape: number, scale: number): Lifetime {
  const mean = scale * gamma(1 + 1 / shape);
  return {
    survival: (t) => (t <= 0 ? 1 : Math.exp(-((t / scale) ** shape))),
    // With x = (t/scale)^shape the integral is an incomplete gamma function.
    lived: (t) => (t <= 0 ? 0 : mean * gammaShare(1 / shape, (t / scale) ** shape)),
    draw: (uniform) => scale * (-Math.log1p(-uniform)) ** (1 / shape),
  };
}

/** One observed machine: how long it was seen alive, and whether it was preempted then or merely last seen. */
export interface Observation {
  readonly hours: number;
  readonly isPreempted: boolean;
}

/** The Kaplan–Meier curve of observations; past the last death it stays level until `end`, where it drops to nothing. */
export function empiricalLifetime(
  observations: readonly Observation[],
  end: number = Number.POSITIVE_INFINITY,
): Lifetime {
  const sorted = [...observations].sort((a, b) => a.hours - b.hours);
  const steps: { readonly at: number; readonly after: number }[] = [];
  let alive = 1;
  for (let at = 0; at < sorted.length; ) {
    const hours = (sorted[at] as Observation).hours;
    let next = at;
    let deaths = 0;
    for (; next < sorted.length && (sorted[next] as Observation).hours === hours; next += 1) {
      if ((sorted[next] as Observation).isPreempted) deaths += 1;
    }
    if (deaths > 0) {
      alive *= 1 - deaths / (sorted.length - at);
      steps.push({ at: hours, after: alive });
    }
    at = next;
  }
  const survival = (t: number) => {
    if (t >= end) return 0;
    let value = 1;
    for (const step of steps) {
      if (step.at > t) break;
      value = step.after;
    }
    return value;
  };
  const lived = (t: number) => {
    const until = Math.min(t, end);
    let sum = 0;
    let from = 0;
    let value = 1;
    for (const step of steps) {
      if (step.at >= until) break;
      sum += value * (step.at - from);
      from = step.at;
      value = step.after;
    }
    return sum + value * (until - from);
  };
  const draw = (uniform: number) => {
    for (const step of steps) if (step.after <= 1 - uniform) return Math.min(step.at, end);
    return end;
  };
  return { survival, lived, draw };
}

/** The same life, ended at `cap` at the latest: the seven days of flex-start, the day of old preemptible machines. */
export function cappedLifetime(lifetime: Lifetime, cap: number): Lifetime {
  return {
    survival: (t) => (t >= cap ? 0 : lifetime.survival(t)),
    lived: (t) => lifetime.lived(Math.min(t, cap)),
    draw: (uniform) => Math.min(cap, lifetime.draw(uniform)),
  };
}

/** Share of machines dead by `t` in the bathtub law of Kadupitiya et al. (2020) for machines with a cap. */
export function bathtubDeaths(t: number, law: { a: number; t1: number; t2: number; b: number }): number {
  return law.a * (1 - Math.exp(-t / law.t1) + Math.exp((t - law.b) / law.t2));
}
