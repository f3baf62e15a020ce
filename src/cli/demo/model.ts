import { Random } from "./random.ts";

const inputs = 8;
const hidden = 48;
const batch = 64;
const rate = 0.002;
const beta1 = 0.9;
const beta2 = 0.999;

/** Named parameters or optimizer moments. */
export type Tensors = ReadonlyMap<string, Float64Array>;

/** All that must come back for training to go on as if nothing had happened. */
export interface TrainingState {
  readonly step: number;
  readonly random: number;
  /** Weights, and Adam's two moments of each. */
  readonly tensors: Tensors;
}

const shapes: readonly (readonly [string, number])[] = [
  ["w1", inputs * hidden],
  ["b1", hidden],
  ["w2", hidden * hidden],
  ["b2", hidden],
  ["w3", hidden],
  ["b3", 1],
];

/**
 * A two-layer network that learns a polynomial from random samples by Adam. Plain IEEE arithmetic in a fixed order (no
 * transcendental functions), so that the same steps give the same bits on every machine.
 */
export class Model {
  readonly #tensors: Map<string, Float64Array>;
  readonly #gradients = new Map(shapes.map(([name, size]) => [name, new Float64Array(size)]));
  readonly #random: Random;
  #step: number;

  private constructor(step: number, random: Random, tensors: Map<string, Float64Array>) {
    this.#step = step;
    this.#random = random;
    this.#tensors = tensors;
  }

  static create(seed: number): Model {
    const random = new Random(seed);
    const tensors = new Map<string, Float64Array>();
    for (const [name, size] of shapes) {
      const scale = name.startsWith("w") ? 1 / Math.sqrt(name === "w1" ? inputs : hidden) : 0;
      tensors.set(
        name,
        Float64Array.from({ length: size }, () => random.next() * scale),
      );
      tensors.set(`m.${name}`, new Float64Array(size));
      tensors.set(`v.${name}`, new Float64Array(size));
    }
    return new Model(0, random, tensors);
  }

  static resume(state: TrainingState): Model {
    return new Model(state.step, new Random(state.random), new Map(state.tensors));
  }

  get step(): number {
    return this.#step;
  }

  state(): TrainingState {
    return { step: this.#step, random: this.#random.state, tensors: this.#tensors };
  }

  /** One optimizer step on a fresh batch; gives the batch's mean squared error. */
  train(): number {
    for (const gradient of this.#gradients.values()) gradient.fill(0);
    let loss = 0;
    for (let i = 0; i < batch; i += 1) loss += this.#sample();
    this.#step += 1;
    this.#adam();
    return loss / batch;
  }

  #tensor(name: string): Float64Array {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw new Error(`the checkpoint has no tensor ${name}`);
    return tensor;
  }

  #gradient(name: string): Float64Array {
    return this.#gradients.get(name) ?? new Float64Array(0);
  }

  /** Forward and backward for one sample; gradients are added up. */
  #sample(): number {
    const x = Float64Array.from({ length: inputs }, () => this.#random.next());
    const at = (i: number) => x[i] ?? 0;
    const wanted = at(0) * at(1) - at(2) * at(3) + 0.5 * at(4) * at(4) - at(5) + 0.25 * at(6) * at(7);

    const h1 = layer(this.#tensor("w1"), this.#tensor("b1"), x);
    const h2 = layer(this.#tensor("w2"), this.#tensor("b2"), h1);
    const w3 = this.#tensor("w3");
    let output = this.#tensor("b3")[0] ?? 0;
    for (let j = 0; j < hidden; j += 1) output += (w3[j] ?? 0) * (h2[j] ?? 0);

    const error = output - wanted;
    const slope = (2 * error) / batch;
    const d2 = new Float64Array(hidden);
    const g3 = this.#gradient("w3");
    for (let j = 0; j < hidden; j += 1) {
      g3[j] = (g3[j] ?? 0) + slope * (h2[j] ?? 0);
      d2[j] = (h2[j] ?? 0) > 0 ? slope * (w3[j] ?? 0) : 0;
    }
    const gb3 = this.#gradient("b3");
    gb3[0] = (gb3[0] ?? 0) + slope;
    const d1 = backward(this.#tensor("w2"), this.#gradient("w2"), this.#gradient("b2"), h1, d2);
    for (let j = 0; j < hidden; j += 1) if ((h1[j] ?? 0) <= 0) d1[j] = 0;
    backward(this.#tensor("w1"), this.#gradient("w1"), this.#gradient("b1"), x, d1);
    return error * error;
  }

  #adam(): void {
    // Powers by repeated multiplication: Math.pow need not round the same everywhere.
    let correct1 = 1;
    let correct2 = 1;
    for (let i = 0; i < this.#step; i += 1) {
      correct1 *= beta1;
      correct2 *= beta2;
    }
    for (const [name, gradient] of this.#gradients) {
      const weights = this.#tensor(name);
      const m = this.#tensor(`m.${name}`);
      const v = this.#tensor(`v.${name}`);
      for (let i = 0; i < weights.length; i += 1) {
        const g = gradient[i] ?? 0;
        const mi = beta1 * (m[i] ?? 0) + (1 - beta1) * g;
        const vi = beta2 * (v[i] ?? 0) + (1 - beta2) * g * g;
        m[i] = mi;
        v[i] = vi;
        weights[i] = (weights[i] ?? 0) - (rate * (mi / (1 - correct1))) / (Math.sqrt(vi / (1 - correct2)) + 1e-8);
      }
    }
  }
}

/** ReLU of `weights · input + bias`. */
function layer(weights: Float64Array, bias: Float64Array, input: Float64Array): Float64Array {
  return bias.map((b, j) => {
    let sum = b;
    for (let i = 0; i < input.length; i += 1) sum += (weights[j * input.length + i] ?? 0) * (input[i] ?? 0);
    return sum > 0 ? sum : 0;
  });
}

/** Adds a layer's gradients and gives the gradient of its input. */
function backward(
  weights: Float64Array,
  weightGradient: Float64Array,
  biasGradient: Float64Array,
  input: Float64Array,
  delta: Float64Array,
): Float64Array {
  const result = new Float64Array(input.length);
  for (let j = 0; j < delta.length; j += 1) {
    const d = delta[j] ?? 0;
    if (d === 0) continue;
    biasGradient[j] = (biasGradient[j] ?? 0) + d;
    for (let i = 0; i < input.length; i += 1) {
      const at = j * input.length + i;
      weightGradient[at] = (weightGradient[at] ?? 0) + d * (input[i] ?? 0);
      result[i] = (result[i] ?? 0) + d * (weights[at] ?? 0);
    }
  }
  return result;
}
