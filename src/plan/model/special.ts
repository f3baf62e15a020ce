const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The logarithm of the gamma function, for x > 0. */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  let sum = lanczos[0] as number;
  for (let i = 1; i < lanczos.length; i += 1) sum += (lanczos[i] as number) / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The gamma function, for x > 0. */
export function gamma(x: number): number {
  return Math.exp(logGamma(x));
}

/** The regularised lower incomplete gamma function P(a, x): the share of a Gamma(a) law below x. */
export function gammaShare(a: number, x: number): number {
  if (x <= 0) return 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 10_000; n += 1) {
      term *= x / (a + n);
      sum += term;
      if (term < sum * 1e-16) break;
    }
    return sum * front;
  }
  // Lentz's continued fraction for the upper part.
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10_000; i += 1) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / nonZero(an * d + b, tiny);
    c = nonZero(b + an / c, tiny);
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  return 1 - h * front;
}

/** The x below which a share `p` of a Gamma(a) law lies. */
export function gammaQuantile(a: number, p: number): number {
  let high = a + 10 * Math.sqrt(a) + 10;
  while (gammaShare(a, high) < p) high *= 2;
  return bisect((x) => gammaShare(a, x) - p, 0, high);
}

/** A root of a function that rises from below zero at `low` to above it at `high`. */
export function bisect(f: (x: number) => number, low: number, high: number): number {
  let [a, b] = [low, high];
  for (let round = 0; round < 200; round += 1) {
    const middle = (a + b) / 2;
    if (middle === a || middle === b) break;
    if (f(middle) < 0) a = middle;
    else b = middle;
  }
  return (a + b) / 2;
}

function nonZero(x: number, tiny: number): number {
  return Math.abs(x) < tiny ? tiny : x;
}
