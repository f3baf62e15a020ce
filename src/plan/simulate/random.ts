/** Numbers in [0, 1) from a seed: the same on every machine and for every number of threads. */
export interface Random {
  next(): number;
}

/** A generator of its own for each run of a simulation, so that runs can be shared out among threads. */
export function randomOf(seed: number, stream: number): Random {
  let a = scramble((seed >>> 0) ^ 0x9e3779b9);
  let b = scramble(a ^ (stream >>> 0));
  let c = scramble(b ^ Math.floor(stream / 2 ** 32));
  let counter = 1;
  // sfc32: small, quick, and passes the usual batteries of tests.
  const draw = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) draw();
  return { next: () => (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53 };
}

function scramble(x: number): number {
  let y = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  y = Math.imul(y ^ (y >>> 13), 0xc2b2ae35);
  return (y ^ (y >>> 16)) >>> 0;
}
